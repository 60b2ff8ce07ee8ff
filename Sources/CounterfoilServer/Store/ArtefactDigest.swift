public import CounterfoilProtocol
import Crypto

/// The SHA-256 that a store keeps in place of a secret artefact.
///
/// The hash covers the kind of the artefact and its text. A digest of one kind therefore never matches a
/// record of another kind, such as a code and a session.
public struct ArtefactDigest: Sendable, Hashable {
    /// The 32 bytes of the digest.
    public let bytes: [UInt8]

    /// Reads a stored digest; nil unless it has 32 bytes.
    public init?(stored bytes: [UInt8]) {
        guard bytes.count == SHA256.byteCount else { return nil }
        self.bytes = bytes
    }

    /// The digest of an authorization code.
    public init(of code: AuthorizationCode) { self.init(kind: "authorization code", text: code.exposed) }

    /// The digest of a session token.
    public init(of token: SessionToken) { self.init(kind: "session", text: token.exposed) }

    /// The digest of the identifier of a page that may be answered once.
    public init(of interaction: InteractionIdentifier) { self.init(kind: "interaction", text: interaction.rawValue) }

    /// The digest of a client secret.
    public init(of secret: ClientSecret) { self.init(kind: "client secret", text: secret.exposed) }

    /// The digest of the name of a token family, which each of its refresh tokens carries.
    public init(ofFamily name: [UInt8]) { self.init(kind: "refresh token", text: Base64URL.encode(name)) }

    /// The digest of the `jti` of a client assertion, unique within its client.
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
