/// The encoder of logos: it decodes the pixels of an upload and encodes them again, so that nothing else of
/// the file remains.
///
/// The first bytes of the file alone determine its format. A logo is 96 pixels wide and high and has at
/// most ``Logo/byteLimit`` bytes. The whole image is scaled to fit, with transparent margins if it is not
/// square.
package struct LogoEncoder: Sendable {
    /// The most bytes of an upload.
    package static let uploadLimit = 512 * 1024
    /// The largest width and height of an upload, in pixels.
    package static let sideLimit = 4096
    /// The most pixels of an upload.
    package static let pixelLimit = 8_000_000
    /// The width and height of a logo, in pixels.
    package static let side = 96

    // One at a time: the pixels of an image at the limit take 32 MB.
    private let queue = BoundedQueue(label: "counterfoil.logos", width: 1, capacity: 8)

    /// Creates an encoder; a process needs exactly one, because it limits the concurrent work.
    package init() {}

    /// Encodes a logo without blocking an event loop.
    package func logo(from upload: [UInt8]) async throws(LogoRefusal) -> Logo {
        // A file that is no image is refused at once, before the queue.
        guard upload.count <= Self.uploadLimit else { throw .tooLarge }
        guard Kind(of: upload) != nil else { throw .notAPicture }
        let outcome: Result<Logo, LogoRefusal>
        do {
            outcome = try await queue.run {
                Result { () throws(LogoRefusal) in try Self.logo(from: upload) }
            }
        } catch { throw .busy(retryAfter: error.retryAfter) }
        return try outcome.get()
    }

    /// Encodes a logo on the calling thread, which can take a second for the largest uploads.
    package static func logo(from upload: [UInt8]) throws(LogoRefusal) -> Logo {
        guard upload.count <= uploadLimit else { throw .tooLarge }
        let picture =
            switch Kind(of: upload) {
            case .png: try PNGPicture.decode(upload)
            case .jpeg: try JPEGPicture.decode(upload)
            case nil: throw LogoRefusal.notAPicture
            }
        let square = picture.fitted(intoSquareOf: side)
        if let png = PNGPicture.encode(square), png.count <= Logo.byteLimit {
            return Logo(format: .png, bytes: png)
        }
        let opaque = square.onWhite()
        for quality in stride(from: 90, through: 2, by: -8) {
            guard let jpeg = JPEGPicture.encode(opaque, quality: quality), jpeg.count <= Logo.byteLimit else {
                continue
            }
            return Logo(format: .jpeg, bytes: jpeg)
        }
        throw .damaged
    }

    /// Checks the size of an image before memory is allocated for it.
    static func checkSize(width: Int, height: Int) throws(LogoRefusal) {
        guard width > 0, height > 0 else { throw .damaged }
        guard width <= sideLimit, height <= sideLimit, width * height <= pixelLimit else { throw .tooManyPixels }
    }

    private enum Kind {
        case png
        case jpeg

        init?(of bytes: [UInt8]) {
            if bytes.starts(with: PNGPicture.signature) {
                self = .png
            } else if bytes.starts(with: JPEGPicture.signature) {
                self = .jpeg
            } else {
                return nil
            }
        }
    }
}
