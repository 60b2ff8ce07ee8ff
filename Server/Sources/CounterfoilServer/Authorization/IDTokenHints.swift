import CounterfoilProtocol
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens

/// The reader of ID tokens that clients send back as `id_token_hint`.
struct IDTokenHints: Sendable {
    let keys: any SigningKeys
    let subjects: SubjectIdentifiers
    private let verifier: IDTokenHintVerifier

    /// The user whom a hint names.
    enum Hinted: Sendable, Hashable {
        /// The hint is an ID token of this server, which identifies a user and, with `sid`, a session.
        case user(IDTokenHint)
        /// The user is unknown: the signing key of the token was deleted, or never belonged to this server.
        case unknownUser
    }

    init(issuer: Issuer, keys: any SigningKeys, subjects: SubjectIdentifiers) {
        self.keys = keys
        self.subjects = subjects
        verifier = IDTokenHintVerifier(issuer: issuer)
    }

    /// Verifies a hint; throws if it is invalid.
    ///
    /// If the signing key is unknown, the result is ``Hinted/unknownUser`` instead of an error.
    func read(_ token: IDToken) throws(TokenRefusal) -> Hinted {
        do {
            return .user(try verifier.verify(token, keys: keys.publicKeys))
        } catch .unknownKey {
            return .unknownUser
        }
    }

    /// Returns the session of a hint, decoded from its `sid` for the client; nil if the hint has no valid `sid`.
    func session(of hint: IDTokenHint, at client: RegisteredClient) throws -> SessionIdentifier? {
        try hint.sessionID.flatMap { try subjects.session(named: $0, at: client) }
    }

    /// Returns true if the `sub` of a hint is the subject identifier of a user for the client.
    func mean(_ hint: IDTokenHint, _ user: User, at client: RegisteredClient) -> Bool {
        Array(hint.subject.utf8) == Array(subjects.subject(for: user.id, client: client).utf8)
    }
}
