import CounterfoilProtocol
import Crypto

/// Which picture: the SHA-256 of its bytes, so that its address changes with it.
public struct LogoIdentifier: Sendable, Hashable, CustomStringConvertible {
    /// 43 characters of base64url.
    public let rawValue: String

    /// An identifier as an address or a store holds it, or nil.
    public init?(_ rawValue: String) {
        guard Base64URL.decode(rawValue)?.count == SHA256.byteCount else { return nil }
        self.rawValue = rawValue
    }

    init(of bytes: [UInt8]) { rawValue = Base64URL.encode(SHA256.hash(data: bytes)) }

    /// 43 characters of base64url.
    public var description: String { rawValue }
}

/// A picture that the server has made from an upload: small, square, and of one of two kinds that browsers never run.
public struct Logo: Sendable, Hashable {
    /// How it is encoded.
    public enum Format: String, Sendable, Hashable, CaseIterable {
        /// PNG.
        case png = "image/png"
        /// JPEG.
        case jpeg = "image/jpeg"
    }

    /// The most bytes of one, so that pages stay light.
    public static let byteLimit = 6 * 1024

    /// How it is encoded; the raw value is the media type.
    public let format: Format
    /// The file.
    public let bytes: [UInt8]

    /// A picture that the server has encoded, or one that a store has kept.
    package init(format: Format, bytes: [UInt8]) {
        self.format = format
        self.bytes = bytes
    }

    /// Its identifier.
    public var id: LogoIdentifier { LogoIdentifier(of: bytes) }
}
