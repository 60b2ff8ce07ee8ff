/// Makes logos of uploads: decodes the pixels and encodes them anew, so that nothing else of the file survives.
///
/// What kind of picture it is, its first bytes say and nothing else. A logo is 96 pixels a side and at most
/// ``Logo/byteLimit`` bytes; the whole picture is fitted in, with transparent room beside it when it is not square.
public struct LogoEncoder: Sendable {
    /// The most bytes of an upload.
    public static let uploadLimit = 512 * 1024
    /// The most pixels of a side of an upload.
    public static let sideLimit = 4096
    /// The most pixels of an upload.
    public static let pixelLimit = 8_000_000
    /// The pixels of a side of a logo.
    public static let side = 96

    // One at a time: a picture at the limit takes 32 MB of pixels.
    private let queue = BoundedQueue(label: "counterfoil.logos", width: 1, capacity: 8)

    /// Makes an encoder; one for the process, because it bounds how much is done at once.
    public init() {}

    /// Makes a logo without keeping an event loop waiting.
    public func logo(from upload: [UInt8]) async throws(LogoRefusal) -> Logo {
        // What is plainly no picture need not wait for those that are.
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

    /// Makes a logo at once, which can take a second for the largest uploads.
    public static func logo(from upload: [UInt8]) throws(LogoRefusal) -> Logo {
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

    /// Refuses sizes that would cost too much, before anything is allocated for them.
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
