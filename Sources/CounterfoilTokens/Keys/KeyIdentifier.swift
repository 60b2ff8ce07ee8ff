/// The name of a key within the set of its issuer.
///
/// Wire name `kid`, RFC 7515 §4.1.4 and RFC 7517 §4.5. Not a secret. It selects a key and proves nothing.
public struct KeyIdentifier: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
    /// The most bytes that an identifier in the header of a token may have.
    public static let byteLimit = 256

    /// The identifier as it stands on the wire.
    public let rawValue: String

    /// An identifier of any text.
    public init(_ rawValue: String) { self.rawValue = rawValue }

    /// An identifier of any text.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The identifier, or its length where characters outside visible ASCII would disturb a log.
    public var description: String {
        let isPlain = rawValue.utf8.count <= Self.byteLimit && rawValue.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        return isPlain ? rawValue : "<\(rawValue.utf8.count) bytes>"
    }
}
