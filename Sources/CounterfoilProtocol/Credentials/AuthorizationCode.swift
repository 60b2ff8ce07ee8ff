/// An authorization code, which the server sends to the client through the browser.
///
/// The parameter `code`, RFC 6749 §4.1.2: 1 to 4096 characters in the range `%x20-7E`. A code that this server
/// generates is 256 random bits in base64url.
public struct AuthorizationCode: Secret {
    /// The code in plain text, as it is sent.
    public let exposed: String

    /// Creates a code from a received value; nil if its characters or length are invalid.
    public init?(_ text: String) {
        guard (1...4096).contains(text.utf8.count), text.utf8.allSatisfy(\.isVisibleOrSpace) else { return nil }
        exposed = text
    }

    /// Generates a code of 256 random bits (RFC 6749 §10.10 requires at least 128).
    public init(random: RandomBytes = RandomBytes()) {
        exposed = Base64URL.encode(random.bytes(32))
    }
}
