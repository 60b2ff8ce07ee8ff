import CounterfoilProtocol
import Crypto

/// The identifier of a logo: the SHA-256 digest of its bytes, so that the URL changes with the image.
public struct LogoIdentifier: Sendable, Hashable, CustomStringConvertible {
    /// The digest as 43 characters of base64url.
    public let rawValue: String

    /// Parses an identifier from a URL or a store; nil if malformed.
    public init?(_ rawValue: String) {
        guard Base64URL.decode(rawValue)?.count == SHA256.byteCount else { return nil }
        self.rawValue = rawValue
    }

    package init(of bytes: [UInt8]) { rawValue = Base64URL.encode(SHA256.hash(data: bytes)) }

    /// The same text as ``rawValue``.
    public var description: String { rawValue }
}

/// A square logo that the server re-encoded from an upload, in an image format that browsers never execute.
public struct Logo: Sendable, Hashable {
    /// The image format; the raw value is the media type.
    public enum Format: String, Sendable, Hashable, CaseIterable {
        /// PNG, which the encoder prefers.
        case png = "image/png"
        /// JPEG on a white background, for logos that are too large as PNG.
        case jpeg = "image/jpeg"
    }

    /// The maximum size of a logo in bytes, which keeps pages small.
    public static let byteLimit = 6 * 1024

    /// The image format, which determines the `Content-Type` of the logo.
    public let format: Format
    /// The file with the encoded image, at most ``byteLimit`` bytes.
    public let bytes: [UInt8]

    /// Creates a logo from an image that the server has encoded or that a store has loaded.
    package init(format: Format, bytes: [UInt8]) {
        self.format = format
        self.bytes = bytes
    }

    /// The identifier, computed from the bytes.
    public var id: LogoIdentifier { LogoIdentifier(of: bytes) }
}
