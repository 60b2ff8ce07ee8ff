/// The value that ties an authorization response to the request of the same user agent.
///
/// Wire name `state`, RFC 6749 §4.1.1. Opaque to the server, which returns it byte for byte; at most 8192 bytes.
public struct State: Secret {
    /// The most bytes that a server takes.
    public static let byteLimit = 8192

    /// The value as it stands on the wire, decoded once.
    public let exposed: String

    /// A value as it came from the wire, or nil when it is empty or longer than ``byteLimit``.
    public init?(_ text: String) {
        guard (1...Self.byteLimit).contains(text.utf8.count) else { return nil }
        exposed = text
    }

    /// A value of 256 random bits (RFC 6749 §10.12).
    public init(random: RandomBytes = RandomBytes()) {
        exposed = Base64URL.encode(random.bytes(32))
    }
}

/// The value that ties an ID token to one authorization request.
///
/// Wire name `nonce`, OpenID Connect Core §3.1.2.1. Copied unmodified into the ID token; at most 2048 bytes.
public struct Nonce: Secret {
    /// The most bytes that a server takes.
    public static let byteLimit = 2048

    /// The value as it stands on the wire.
    public let exposed: String

    /// A value as it came from the wire, or nil when it is empty or longer than ``byteLimit``.
    public init?(_ text: String) {
        guard (1...Self.byteLimit).contains(text.utf8.count) else { return nil }
        exposed = text
    }

    /// A value of 256 random bits.
    public init(random: RandomBytes = RandomBytes()) {
        exposed = Base64URL.encode(random.bytes(32))
    }
}
