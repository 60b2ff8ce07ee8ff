/// A `device_code`, with which a device polls the token endpoint (RFC 8628 §3.2).
///
/// A code that this server generates is 256 random bits in base64url.
public struct DeviceCode: Secret {
    /// The code in plain text, as it is sent.
    public let exposed: String

    /// Creates a code from a received value; nil if it is empty or longer than 4096 bytes.
    public init?(_ text: String) {
        guard (1...4096).contains(text.utf8.count) else { return nil }
        exposed = text
    }

    /// Generates a code of 256 random bits (RFC 8628 §5.2 requires that it cannot be guessed).
    public init(random: RandomBytes = RandomBytes()) {
        exposed = Base64URL.encode(random.bytes(32))
    }
}
