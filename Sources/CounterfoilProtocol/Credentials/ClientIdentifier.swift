/// The identifier of a client at one authorization server.
///
/// The parameter `client_id`, RFC 6749 §2.2: 1 to 2048 characters in the range `%x20-7E`. It is not a secret.
public struct ClientIdentifier: Sendable, Hashable, CustomStringConvertible {
    /// The identifier as it is sent, before form encoding.
    public let rawValue: String

    /// Creates an identifier from a received value; nil if its characters or length are invalid.
    public init?(_ rawValue: String) {
        guard (1...2048).contains(rawValue.utf8.count), rawValue.utf8.allSatisfy(\.isVisibleOrSpace) else { return nil }
        self.rawValue = rawValue
    }

    /// Generates an identifier of 128 random bits, in characters that need no form encoding.
    ///
    /// The identifier begins with `app_`, so that it never equals the `sub` of a user (RFC 9700 §4.15).
    public init(random: RandomBytes = RandomBytes()) {
        rawValue = "app_" + Base64URL.encode(random.bytes(16))
    }

    /// The identifier as it is sent; equal to ``rawValue``.
    public var description: String { rawValue }
}

extension ClientIdentifier: Codable {
    /// Decodes an identifier from a string, and throws if it is invalid.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let value = ClientIdentifier(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a client identifier")
        }
        self = value
    }

    /// Encodes the identifier as a string, as it is sent.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}
