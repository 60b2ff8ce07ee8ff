public import CounterfoilProtocol
import Crypto

/// The SHA-256 digest that a store keeps in place of a secret, such as a code or a session token.
///
/// The digest covers the kind of the secret and its text. A digest of one kind, such as a code, therefore never
/// matches a record of another kind, such as a session.
public struct ArtefactDigest: Sendable, Hashable {
    /// The 32 bytes of the digest.
    public let bytes: [UInt8]

    /// Restores a digest from a store; nil unless it has 32 bytes.
    public init?(stored bytes: [UInt8]) {
        guard bytes.count == SHA256.byteCount else { return nil }
        self.bytes = bytes
    }

    /// Creates the digest of an authorization code.
    public init(of code: AuthorizationCode) { self.init(kind: "authorization code", text: code.exposed) }

    /// Creates the digest of a session token.
    public init(of token: SessionToken) { self.init(kind: "session", text: token.exposed) }

    /// Creates the digest of the identifier of a page that a user can answer only once.
    public init(of interaction: InteractionIdentifier) { self.init(kind: "interaction", text: interaction.rawValue) }

    /// Creates the digest of a client secret.
    public init(of secret: ClientSecret) { self.init(kind: "client secret", text: secret.exposed) }

    /// Creates the digest of the name of a token family, which each refresh token of the family contains.
    public init(ofFamily name: [UInt8]) { self.init(kind: "refresh token", text: Base64URL.encode(name)) }

    /// Creates the digest of the `jti` of a client assertion, which is unique for its client.
    public init(ofAssertion identifier: String, of client: ClientIdentifier) {
        self.init(kind: "client assertion", text: client.rawValue + "\0" + identifier)
    }

    private init(kind: String, text: String) {
        var hash = SHA256()
        hash.update(data: Array("counterfoil \(kind)\0".utf8))
        hash.update(data: Array(text.utf8))
        bytes = hash.finalize().copiedBytes
    }
}
