/// The value that ties an authorization response to the user agent that sent the request.
///
/// Wire name `state`, RFC 6749 §4.1.1. It is opaque to the server, which returns it byte for byte. Limit:
/// 8192 bytes.
public struct State: Secret {
    /// The maximum length in bytes.
    public static let byteLimit = 8192

    /// The value in its wire form, percent-decoded once.
    public let exposed: String

    /// Creates a value from a received one; nil if it is empty or longer than ``byteLimit``.
    public init?(_ text: String) {
        guard (1...Self.byteLimit).contains(text.utf8.count) else { return nil }
        exposed = text
    }

    /// Generates a value of 256 random bits (RFC 6749 §10.12).
    public init(random: RandomBytes = RandomBytes()) {
        exposed = Base64URL.encode(random.bytes(32))
    }
}

/// The value that ties an ID token to one authorization request.
///
/// Wire name `nonce`, OpenID Connect Core §3.1.2.1. The server copies it unmodified into the ID token.
/// Limit: 2048 bytes.
public struct Nonce: Secret {
    /// The maximum length in bytes.
    public static let byteLimit = 2048

    /// The value in its wire form.
    public let exposed: String

    /// Creates a value from a received one; nil if it is empty or longer than ``byteLimit``.
    public init?(_ text: String) {
        guard (1...Self.byteLimit).contains(text.utf8.count) else { return nil }
        exposed = text
    }

    /// Generates a value of 256 random bits.
    public init(random: RandomBytes = RandomBytes()) {
        exposed = Base64URL.encode(random.bytes(32))
    }
}
