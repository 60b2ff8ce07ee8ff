public import CounterfoilProtocol
import Crypto

/// What a store keeps of a secret artefact: the SHA-256 of its kind and its text.
///
/// The kind is hashed along, so that a code can never be found as a session, nor the reverse.
public struct ArtefactDigest: Sendable, Hashable {
    /// The 32 bytes.
    public let bytes: [UInt8]

    /// The digest that a store has kept.
    public init?(stored bytes: [UInt8]) {
        guard bytes.count == SHA256.byteCount else { return nil }
        self.bytes = bytes
    }

    /// The digest of an authorization code.
    public init(of code: AuthorizationCode) { self.init(kind: "authorization code", text: code.exposed) }

    /// The digest of a session's token.
    public init(of token: SessionToken) { self.init(kind: "session", text: token.exposed) }

    /// The digest of the ticket of a page that asks the person something once.
    public init(of interaction: InteractionIdentifier) { self.init(kind: "interaction", text: interaction.rawValue) }

    /// The digest of the secret of an application.
    public init(of secret: ClientSecret) { self.init(kind: "client secret", text: secret.exposed) }

    /// The digest of the name that a line of refresh tokens carries.
    public init(ofFamily name: [UInt8]) { self.init(kind: "refresh token", text: Base64URL.encode(name)) }

    /// The digest of an assertion that an application has authenticated with: its `jti`, within the application.
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
