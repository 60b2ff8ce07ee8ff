import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore

/// A client that the user may manage; only ``AppAccess`` can create this value.
struct AccessibleApp: Sendable {
    let client: RegisteredClient
    /// Whether the user is an administrator, who may also change the policy.
    let byAdministrator: Bool

    fileprivate init(_ client: RegisteredClient, byAdministrator: Bool) {
        self.client = client
        self.byAdministrator = byAdministrator
    }
}

/// The access rule for clients that a person registered: their owner and every administrator may manage them.
///
/// For other users, a client is treated as if it did not exist.
enum AppAccess {
    static func judge(_ client: RegisteredClient?, by person: Person) -> AccessibleApp? {
        guard let client, !client.isUnregistered else { return nil }
        if person.isAdministrator { return AccessibleApp(client, byAdministrator: true) }
        return client.owner == person.id ? AccessibleApp(client, byAdministrator: false) : nil
    }

    /// Returns true if the user may delete the client.
    static func mayDelete(_ client: ClientOwnership, _ person: Person) -> Bool {
        !client.isUnregistered && (person.isAdministrator || client.owner == person.id)
    }
}

extension Console {
    /// Returns the client in the path if the user may manage it; otherwise throws `NotFoundError`.
    func application(_ visit: Visit) async throws -> AccessibleApp {
        guard let id = visit.request.parameters.clientID,
            let application = AppAccess.judge(try await registry.atArrival().client(id), by: visit.person)
        else { throw NotFoundError() }
        return application
    }

    /// Returns the client in the path, even if this version cannot read its record, if the user may delete it;
    /// otherwise throws `NotFoundError`.
    func clientToDelete(_ visit: Visit) async throws -> ClientOwnership {
        guard let id = visit.request.parameters.clientID, let client = try await store.clientOwnership(id),
            AppAccess.mayDelete(client, visit.person)
        else { throw NotFoundError() }
        return client
    }

    /// Returns the part of the console to which a client belongs: My Apps if it is the user's own client, or else the
    /// administration.
    func part(of client: RegisteredClient, _ visit: Visit) -> ConsoleHead.Part {
        client.owner == visit.person.id ? .applications : .administration
    }

    /// Returns the paths of the pages about a client, with the current page marked.
    func paths(
        of client: RegisteredClient, at part: AppPaths.Part?, _ visit: Visit
    ) -> AppPaths {
        let isOwn = client.owner == visit.person.id
        let claims =
            client.type == .native && client.redirectURIs.contains { if case .https = $0.kind { true } else { false } }
        func path(_ endpoint: Endpoint) -> String { self.path(endpoint, of: client.id) }
        return AppPaths(
            at: part,
            overview: path(.application),
            edit: path(.editApp),
            connect: path(.connectApp),
            logo: path(.applicationLogo),
            secrets: client.isConfidential ? path(.applicationSecrets) : nil,
            association: claims ? path(.applicationAssociation) : nil,
            policy: visit.person.isAdministrator ? path(.applicationPolicy) : nil,
            delete: path(.deleteApp),
            list: self.path(isOwn ? .applications : .administration),
            isOwn: isOwn
        )
    }

    func summary(_ client: RegisteredClient, _ visit: Visit) -> AppSummary {
        AppSummary(client, words: visit.words, issuer: settings.issuer)
    }
}
