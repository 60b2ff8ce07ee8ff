import CounterfoilProtocol
import CounterfoilTokens

/// Reads the ID tokens of this server that come back as `id_token_hint`.
struct IDTokenHints: Sendable {
    let keys: any SigningKeys
    let subjects: SubjectNames
    private let verifier: IDTokenHintVerifier

    /// Whom a hint means.
    enum Hinted: Sendable, Hashable {
        /// The person, and the session, of a token of ours.
        case person(IDTokenHint)
        /// Somebody of whom nothing is known any more: the key of the token, if it was ours, is gone.
        case somebody
    }

    init(issuer: Issuer, keys: any SigningKeys, subjects: SubjectNames) {
        self.keys = keys
        self.subjects = subjects
        verifier = IDTokenHintVerifier(issuer: issuer)
    }

    /// Whom a token means, or why it is none of ours.
    func read(_ token: IDToken) throws(TokenRefusal) -> Hinted {
        do { return .person(try verifier.verify(token, keys: keys.publicKeys)) } catch .unknownKey { return .somebody }
    }

    /// The session of a hint, as an application knows it.
    func session(of hint: IDTokenHint, at client: RegisteredClient) throws -> SessionIdentifier? {
        try hint.sessionID.flatMap { try subjects.session(named: $0, at: client) }
    }

    /// Whether a hint means a person, as an application knows them.
    func mean(_ hint: IDTokenHint, _ person: Person, at client: RegisteredClient) -> Bool {
        Array(hint.subject.utf8) == Array(subjects.name(of: person.id, to: client).utf8)
    }
}
