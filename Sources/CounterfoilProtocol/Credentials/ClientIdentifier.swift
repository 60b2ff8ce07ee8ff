/// The identifier of an application at one authorization server.
///
/// Wire name `client_id`, RFC 6749 §2.2: 1 to 2048 visible characters, not a secret.
public struct ClientIdentifier: Sendable, Hashable, CustomStringConvertible {
    /// The identifier as it stands on the wire.
    public let rawValue: String

    /// An identifier as it came from the wire, or nil when its characters or length are not allowed.
    public init?(_ rawValue: String) {
        guard (1...2048).contains(rawValue.utf8.count), rawValue.utf8.allSatisfy(\.isVisibleOrSpace) else { return nil }
        self.rawValue = rawValue
    }

    /// A new identifier of 128 random bits, in characters that every client encodes alike.
    ///
    /// It begins with `app_`, so that it is never the `sub` of a person (RFC 9700 §4.15).
    public init(random: RandomBytes = RandomBytes()) {
        rawValue = "app_" + Base64URL.encode(random.bytes(16))
    }

    /// The identifier as it stands on the wire.
    public var description: String { rawValue }
}

extension ClientIdentifier: Codable {
    /// Decodes the wire form.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let value = ClientIdentifier(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a client identifier")
        }
        self = value
    }

    /// Encodes the wire form.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}
