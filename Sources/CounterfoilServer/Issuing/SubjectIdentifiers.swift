import CounterfoilProtocol
import Crypto
import CryptoExtras

/// The identifiers of users and sessions that a client gets (OpenID Connect Core §8).
struct SubjectIdentifiers: Sendable {
    private let key: SymmetricKey
    private let sessionKey: SymmetricKey

    init(_ serverKey: ServerKey) {
        key = serverKey.pairwiseSubjects
        sessionKey = serverKey.pairwiseSessions
    }

    /// Returns the `sub` of a user for a client: the public identifier, or a pairwise one for all clients of
    /// the same host.
    ///
    /// A pairwise identifier follows from the user, the host and a key of the server. It is stable, never
    /// reassigned, and reveals nothing (§8.1). It begins with `per_` like every user identifier, so that no
    /// client identifier can be mistaken for it.
    func subject(for person: PersonIdentifier, client: RegisteredClient) -> String {
        switch client.policy.subjectType {
        case .public:
            return person.rawValue
        case .pairwise:
            let text = client.subjectSector + "\0" + person.rawValue
            let code = HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: key)
            return "per_" + Base64URL.encode(code.copiedBytes)
        }
    }

    /// Returns the `sid` of a session for a client: the public identifier, or a pairwise one for all clients
    /// of the same host.
    ///
    /// With a shared `sid`, two clients could find out that they have the same user. A pairwise `sid` is the
    /// public one under a keyed permutation for the host. The server can thus still find the session of an ID
    /// token that it gets back as a hint.
    func sessionID(for session: SessionIdentifier, client: RegisteredClient) throws -> String {
        switch client.policy.subjectType {
        case .public: return session.rawValue
        case .pairwise:
            var bytes = session.bytes
            try AES.permute(&bytes, key: sessionKey(of: client))
            return SessionIdentifier(bytes: bytes).rawValue
        }
    }

    /// Returns the session for a `sid` that a client presents; nil if it is malformed.
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
    /// The sector within which pairwise identifiers are the same: the host of the redirect URIs.
    ///
    /// A client with redirect URIs on several hosts, or on none, is a sector of its own (OpenID Connect Core
    /// §8.1).
    fileprivate var subjectSector: String {
        let hosts = Set(redirectURIs.map { if case .https(let host) = $0.kind { host } else { "" } })
        guard let host = hosts.first, hosts.count == 1, !host.isEmpty else { return id.rawValue }
        return host
    }

    /// Returns whether users keep their subject identifiers at the client after a change of its registration.
    ///
    /// A refreshed ID token must have the same `sub` as before (OpenID Connect Core §12.2).
    package func keepsNames(as changed: RegisteredClient) -> Bool {
        policy.subjectType == .public || changed.subjectSector == subjectSector
    }
}
