/// The value that ties an authorization response to the user agent that sent the request.
///
/// The parameter `state`, RFC 6749 §4.1.1: at most 8192 bytes. The server does not interpret it, and returns it
/// byte for byte.
public struct OAuthState: Secret {
    /// The maximum length of `state` in bytes; an authorization request with a longer one is invalid.
    public static let byteLimit = 8192

    /// The value in plain text, after percent-decoding.
    public let exposed: String

    /// Creates a value from a received string; nil if it is empty or longer than ``byteLimit``.
    public init?(_ text: String) {
        guard (1...Self.byteLimit).contains(text.utf8.count) else { return nil }
        exposed = text
    }

    private init(unlimited text: String) { exposed = text }

    /// Returns the value for an error response, whatever its length (RFC 6749 §4.1.2.1); nil if it is empty.
    @_spi(Counterfoil) public static func returnable(_ text: String) -> OAuthState? {
        text.isEmpty ? nil : OAuthState(unlimited: text)
    }

    /// Generates a value of 256 random bits (RFC 6749 §10.12).
    public init(random: RandomBytes = RandomBytes()) {
        exposed = Base64URL.encode(random.bytes(32))
    }
}

/// The value that ties an ID token to one authorization request.
///
/// The parameter `nonce`, OpenID Connect Core §3.1.2.1: at most 2048 bytes. The server copies it unmodified
/// into the ID token.
public struct Nonce: Secret {
    /// The maximum length of `nonce` in bytes; an authorization request with a longer one is invalid.
    public static let byteLimit = 2048

    /// The value in plain text, as it is sent.
    public let exposed: String

    /// Creates a value from a received string; nil if it is empty or longer than ``byteLimit``.
    public init?(_ text: String) {
        guard (1...Self.byteLimit).contains(text.utf8.count) else { return nil }
        exposed = text
    }

    /// Generates a value of 256 random bits in base64url.
    public init(random: RandomBytes = RandomBytes()) {
        exposed = Base64URL.encode(random.bytes(32))
    }
}
