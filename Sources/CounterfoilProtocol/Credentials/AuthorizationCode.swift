/// The authorization code, the half of the ticket that travels through the browser.
///
/// Wire name `code`, RFC 6749 §4.1.2: 1 to 4096 visible characters. Ours are 256 random bits in base64url.
public struct AuthorizationCode: Secret {
    /// The code as it stands on the wire.
    public let exposed: String

    /// A code as it came from the wire, or nil when its characters or length cannot be those of a code.
    public init?(_ text: String) {
        guard (1...4096).contains(text.utf8.count), text.utf8.allSatisfy(\.isVisibleOrSpace) else { return nil }
        exposed = text
    }

    /// A code of random bytes (RFC 6749 §10.10: at least 128 bits, here 256).
    public init(random: RandomBytes = RandomBytes()) {
        exposed = Base64URL.encode(random.bytes(32))
    }
}
