/// The SHA-256 thumbprint of a public key, by which a token or a code is bound to the key.
///
/// RFC 7638 §3. The parameter `dpop_jkt` (RFC 9449 §10) and the member `jkt` of the claim `cnf` (RFC 9449 §6.1).
public struct KeyThumbprint: Sendable, Hashable, CustomStringConvertible {
    /// The thumbprint as it is sent: 43 characters of base64url.
    public let rawValue: String

    /// Creates a thumbprint from a received value; nil if it is not the base64url encoding of 32 bytes.
    public init?(_ rawValue: String) {
        guard rawValue.utf8.count == 43, Base64URL.decode(rawValue)?.count == 32 else { return nil }
        self.rawValue = rawValue
    }

    /// The thumbprint as it is sent; equal to ``rawValue``.
    public var description: String { rawValue }
}
