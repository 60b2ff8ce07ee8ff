import CounterfoilProtocol
import Crypto

/// Under which name an application knows a person (OpenID Connect Core §8).
struct SubjectNames: Sendable {
    let key: SymmetricKey

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
    func keepsNames(as changed: RegisteredClient) -> Bool {
        policy.subjectType == .public || changed.subjectSector == subjectSector
    }
}
