package import CounterfoilStore

/// The encoder of logos, with their limits.
///
/// The format of an upload is determined from its first bytes, not from its name or content type. A logo is 96 pixels
/// wide and high and has at most `Logo.byteLimit` bytes.
package struct LogoEncoder: Sendable {
    /// The maximum size of an upload in bytes.
    package static let uploadLimit = PageForm.fileLimit
    /// The maximum width and the maximum height of an upload, in pixels.
    package static let sideLimit = 4096
    /// The maximum number of pixels of an upload.
    package static let pixelLimit = 8_000_000
    /// The width and height of a logo, in pixels.
    package static let side = 96

    private let formats: ContentFormats
    // Only one image is decoded at a time, because the pixels of the largest allowed image take 32 MB.
    private let queue = BoundedQueue(label: "counterfoil.logos", width: 1, capacity: 8)

    /// Creates an encoder; a process must create only one, because two encoders would decode two images at a time.
    package init(_ formats: ContentFormats) { self.formats = formats }

    /// Encodes a logo on a queue, so that the decoding does not block the calling thread.
    package func logo(from upload: [UInt8]) async throws(LogoRefusal) -> Logo {
        // A file that is too large or not an image is refused here, so that it takes no place in the queue.
        guard upload.count <= Self.uploadLimit else { throw .tooLarge }
        guard Logo.Format(ofFile: upload) != nil else { throw .notAnImage }
        let outcome: Result<Logo, LogoRefusal>
        do {
            outcome = try await queue.run { [formats] in
                Result { () throws(LogoRefusal) in try formats.logo(upload) }
            }
        } catch { throw .busy(retryAfter: error.retryAfter) }
        return try outcome.get()
    }
}

extension Logo.Format {
    /// The bytes with which every file of the format begins; of a JPEG, the marker SOI and the first byte of the next.
    package var signature: [UInt8] {
        switch self {
        case .png: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        case .jpeg: [0xFF, 0xD8, 0xFF]
        }
    }

    /// Determines the format of a file from its first bytes; nil for any other format.
    package init?(ofFile bytes: [UInt8]) {
        guard let format = Self.allCases.first(where: { bytes.starts(with: $0.signature) }) else { return nil }
        self = format
    }
}
