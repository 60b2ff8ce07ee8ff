@_spi(Counterfoil) import CounterfoilProtocol
package import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Crypto
import CryptoExtras

/// The identifiers of users and sessions in the form in which each client gets them (OpenID Connect Core §8).
struct SubjectIdentifiers: Sendable {
    private let keys: IdentifierKeys
    private let serverKey: ServerKey

    init(_ keys: IdentifierKeys, serverKey: ServerKey) {
        self.keys = keys
        self.serverKey = serverKey
    }

    /// Returns the user of a logout notification; nil if the identifier was not encrypted with this server key.
    func user(of subject: LogoutSubject) -> UserIdentifier? {
        switch subject {
        case .user(let user): user
        case .removed(let sealed): serverKey.open(subject: sealed)
        }
    }

    /// Returns the `sub` of a user for a client: the public identifier or, if the client's subject type is pairwise,
    /// one that only clients of the same sector get.
    ///
    /// A pairwise identifier is computed from the user, the sector and a derived key. It is stable, never reassigned,
    /// and does not reveal the user (OpenID Connect Core §8.1). It begins with `per_` like every user identifier, so
    /// that it cannot be mistaken for a client identifier.
    func subject(for user: UserIdentifier, client: RegisteredClient) -> String {
        switch client.policy.subjectType {
        case .public:
            return user.rawValue
        case .pairwise:
            let text = client.subjectSector + "\0" + user.rawValue
            let code = HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: keys.subjects)
            return "per_" + Base64URL.encode(code.copiedBytes)
        }
    }

    /// Returns the `sid` of a session for a client: the public identifier or, if the client's subject type is pairwise,
    /// one that only clients of the same sector get.
    ///
    /// If clients of different sectors got the same `sid`, they could find out that they have the same user. A pairwise
    /// `sid` is the public identifier, encrypted with the key of the sector. When a client sends an ID token in
    /// `id_token_hint`, the server decrypts the `sid` and finds the session.
    func sessionID(for session: SessionIdentifier, client: RegisteredClient) throws -> String {
        switch client.policy.subjectType {
        case .public: return session.rawValue
        case .pairwise:
            var bytes = session.bytes
            try AES.permute(&bytes, key: sessionKey(of: client))
            return SessionIdentifier(bytes: bytes).rawValue
        }
    }

    /// Returns the session for a `sid` that a client presents; nil if the `sid` is malformed.
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
            inputKeyMaterial: keys.sessions, info: Array(client.subjectSector.utf8), outputByteCount: 32)
    }
}

extension RegisteredClient {
    /// The sector whose clients get the same pairwise identifiers: the host of the redirect URIs, or that of
    /// `sector_identifier_uri`.
    ///
    /// A client with redirect URIs on several hosts, or on none, is alone in its sector (OpenID Connect Core §8.1). So
    /// is one that no person registered, if it can change its redirect URIs at any time, or gets tokens without them:
    /// it could name those of others to get their identifiers.
    fileprivate var subjectSector: String {
        if isUnregistered, source.kind == .document || declaresDeviceGrant { return id.rawValue }
        if case .registration(let registration) = source, let host = registration.sectorHost { return host }
        let hosts = Set(redirectURIs.map { if case .https(let host) = $0.kind { host } else { "" } })
        guard let host = hosts.first, hosts.count == 1, !host.isEmpty else { return id.rawValue }
        return host
    }

    /// Returns true if users keep their subject identifiers at the client after a change of its registration.
    ///
    /// A refreshed ID token must have the same `sub` as before (OpenID Connect Core §12.2).
    package func keepsNames(as changed: RegisteredClient) -> Bool {
        policy.subjectType == .public || changed.subjectSector == subjectSector
    }
}

extension DynamicRegistration {
    /// The host of `sector_identifier_uri`, which is the sector of the client (OpenID Connect Core §8.1); nil if the
    /// client registered none.
    fileprivate var sectorHost: String? {
        guard case .string(let text)? = members["sector_identifier_uri"] else { return nil }
        return (try? AbsoluteURI(parsing: text))?.host.map(DomainName.canonical)
    }
}
