/// An authorization code, which the server sends through the browser.
///
/// Wire name `code`, RFC 6749 §4.1.2: 1 to 4096 characters in the range `%x20-7E`. A code of this server is
/// 256 random bits in base64url.
public struct AuthorizationCode: Secret {
    /// The code in its wire form.
    public let exposed: String

    /// Creates a code from a received value; nil if its characters or length are invalid.
    public init?(_ text: String) {
        guard (1...4096).contains(text.utf8.count), text.utf8.allSatisfy(\.isVisibleOrSpace) else { return nil }
        exposed = text
    }

    /// Generates a random code (RFC 6749 §10.10 requires at least 128 bits; a code here has 256).
    public init(random: RandomBytes = RandomBytes()) {
        exposed = Base64URL.encode(random.bytes(32))
    }
}
