/// The identifier of a key within the key set of its issuer.
///
/// Wire name `kid`, RFC 7515 §4.1.4 and RFC 7517 §4.5. It is not a secret. It selects a key and proves nothing.
public struct KeyIdentifier: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
    /// The maximum length in bytes of an identifier in a token header or a key set.
    public static let byteLimit = 256

    /// The identifier in its wire form.
    public let rawValue: String

    /// Creates an identifier from any string.
    public init(_ rawValue: String) { self.rawValue = rawValue }

    /// Creates an identifier from any string.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The identifier, or only its length if it is too long or contains characters outside visible ASCII,
    /// for safe logging.
    public var description: String {
        let isPlain = rawValue.utf8.count <= Self.byteLimit && rawValue.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        return isPlain ? rawValue : "<\(rawValue.utf8.count) bytes>"
    }
}
