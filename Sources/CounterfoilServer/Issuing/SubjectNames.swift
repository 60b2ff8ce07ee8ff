import CounterfoilProtocol
import Crypto
import CryptoExtras

/// Under which names an application knows a person (OpenID Connect Core §8), and their session.
struct SubjectNames: Sendable {
    private let key: SymmetricKey
    private let sessionKey: SymmetricKey

    init(_ serverKey: ServerKey) {
        key = serverKey.pairwiseSubjects
        sessionKey = serverKey.pairwiseSessions
    }

    /// `sub`: the identifier of the person, or one that only the applications of the same host know.
    ///
    /// A pairwise name follows from the person, the host and a key of the server: it is stable, never reassigned, and tells
    /// nothing (§8.1). It begins as every identifier of a person does, so that no application's can pass for it.
    func name(of person: PersonIdentifier, to client: RegisteredClient) -> String {
        switch client.policy.subjectType {
        case .public:
            return person.rawValue
        case .pairwise:
            let text = client.subjectSector + "\0" + person.rawValue
            let code = HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: key)
            return "per_" + Base64URL.encode(code.copiedBytes)
        }
    }

    /// `sid`: the identifier of the session, or one that only the applications of the same host know, since by a name that two know
    /// they could tell that they have the same person before them.
    ///
    /// A pairwise name is the identifier under a permutation that belongs to the host: an ID token that comes back as a hint still
    /// means the session.
    func name(of session: SessionIdentifier, to client: RegisteredClient) throws -> String {
        switch client.policy.subjectType {
        case .public: return session.rawValue
        case .pairwise:
            var bytes = session.bytes
            try AES.permute(&bytes, key: sessionKey(of: client))
            return SessionIdentifier(bytes: bytes).rawValue
        }
    }

    /// The session that an application knows by a name; nil where no session can have it.
    func session(named name: String, at client: RegisteredClient) throws -> SessionIdentifier? {
        guard let named = SessionIdentifier(name) else { return nil }
        switch client.policy.subjectType {
        case .public: return named
        case .pairwise:
            var bytes = named.bytes
            try AES.inversePermute(&bytes, key: sessionKey(of: client))
            return SessionIdentifier(bytes: bytes)
        }
    }

    private func sessionKey(of client: RegisteredClient) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: sessionKey, info: Array(client.subjectSector.utf8), outputByteCount: 32)
    }
}

extension RegisteredClient {
    /// To whom pairwise names are the same: the applications whose addresses are all on one host; one with addresses on several
    /// hosts, or on none, is a sector by itself (OpenID Connect Core §8.1).
    fileprivate var subjectSector: String {
        let hosts = Set(redirectURIs.map { if case .https(let host) = $0.kind { host } else { "" } })
        guard let host = hosts.first, hosts.count == 1, !host.isEmpty else { return id.rawValue }
        return host
    }

    /// Whether its people keep the names that it knows them by, as it is written anew (OpenID Connect Core §12.2: a refresh says the
    /// same name as before).
    package func keepsNames(as changed: RegisteredClient) -> Bool {
        policy.subjectType == .public || changed.subjectSector == subjectSector
    }
}
