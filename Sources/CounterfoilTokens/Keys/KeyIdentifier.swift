/// The identifier of a key within the key set of its issuer (`kid`).
///
/// RFC 7515 §4.1.4 and RFC 7517 §4.5. An identifier only selects a key. It is not a secret, and it does not
/// prove that a token is authentic.
public struct KeyIdentifier: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
    /// The maximum length in bytes of an identifier in a token header or a key set.
    public static let byteLimit = 256

    /// The value of `kid`, which can come from an unverified token.
    public let rawValue: String

    /// Creates an identifier from any string; the length is not checked.
    public init(_ rawValue: String) { self.rawValue = rawValue }

    /// Creates an identifier from any string; the length is not checked.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A text that is safe to log: the identifier, or only its length.
    ///
    /// The text contains only the length if the identifier is longer than ``byteLimit`` or contains
    /// characters outside visible ASCII.
    public var description: String {
        let isPlain = rawValue.utf8.count <= Self.byteLimit && rawValue.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        return isPlain ? rawValue : "<\(rawValue.utf8.count) bytes>"
    }
}
