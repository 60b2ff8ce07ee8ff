package import CounterfoilStore

/// The encoder of logos: it decodes the pixels of an uploaded image and encodes them again.
///
/// Nothing but the pixels of the upload remains, so metadata and hidden data are removed. The format of the
/// upload is determined from its first bytes, not from its name or content type. A logo is 96 pixels wide and
/// high and has at most `Logo.byteLimit` bytes. The image is scaled without cropping. If it is not square,
/// it gets transparent margins.
package struct LogoEncoder: Sendable {
    /// The maximum size of an upload in bytes.
    package static let uploadLimit = 512 * 1024
    /// The maximum width and the maximum height of an upload, in pixels.
    package static let sideLimit = 4096
    /// The maximum number of pixels of an upload.
    package static let pixelLimit = 8_000_000
    /// The width and height of a logo, in pixels.
    package static let side = 96

    // Only one image is decoded at a time, because the pixels of the largest allowed image take 32 MB.
    private let queue = BoundedQueue(label: "counterfoil.logos", width: 1, capacity: 8)

    /// Creates an encoder; a process must create only one, because two encoders would decode two images at a time.
    package init() {}

    /// Encodes a logo on a queue, so that the decoding does not block the calling thread.
    package func logo(from upload: [UInt8]) async throws(LogoRefusal) -> Logo {
        // A file that is too large or not an image is refused here, so that it takes no place in the queue.
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

    /// Encodes a logo on the calling thread, which can take up to a second.
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

    /// Checks the dimensions in the header of an image, before memory is allocated for its pixels.
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
