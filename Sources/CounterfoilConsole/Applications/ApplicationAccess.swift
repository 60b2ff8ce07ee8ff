import CounterfoilProtocol
import CounterfoilServer

/// An application that somebody may look after; only ``ApplicationAccess`` makes one.
struct AccessibleApplication: Sendable {
    /// The application.
    let client: RegisteredClient
    /// Whether who looks is an administrator, who also decides its policy.
    let byAdministrator: Bool

    fileprivate init(_ client: RegisteredClient, byAdministrator: Bool) {
        self.client = client
        self.byAdministrator = byAdministrator
    }
}

/// Who may look after which application: its owner and every administrator; for everybody else there is none.
enum ApplicationAccess {
    static func judge(_ client: RegisteredClient?, by person: Person) -> AccessibleApplication? {
        guard let client else { return nil }
        if person.isAdministrator { return AccessibleApplication(client, byAdministrator: true) }
        return client.owner == person.id ? AccessibleApplication(client, byAdministrator: false) : nil
    }
}

extension Console {
    /// The application that the path of a visit names, for who may look after it.
    func application(_ visit: Visit) async throws -> AccessibleApplication {
        guard let id = visit.request.parameters.clientID,
            let application = ApplicationAccess.judge(try await store.client(id), by: visit.person)
        else { throw NotFoundError() }
        return application
    }

    /// The part of the console in which an application stands for who looks: My Apps when it is theirs.
    func part(of client: RegisteredClient, _ visit: Visit) -> ConsoleHead.Part {
        client.owner == visit.person.id ? .applications : .administration
    }

    /// The pages about an application, seen from one of them.
    func paths(
        of client: RegisteredClient, at part: ApplicationPaths.Part?, _ visit: Visit
    ) -> ApplicationPaths {
        let isOwn = client.owner == visit.person.id
        let claims =
            client.type == .native && client.redirectURIs.contains { if case .https = $0.kind { true } else { false } }
        func path(_ endpoint: Endpoint) -> String { self.path(endpoint, of: client.id) }
        return ApplicationPaths(
            at: part,
            overview: path(.application),
            edit: path(.editApplication),
            connect: path(.connectApplication),
            logo: path(.applicationLogo),
            secrets: client.type.isConfidential ? path(.applicationSecrets) : nil,
            association: claims ? path(.applicationAssociation) : nil,
            policy: visit.person.isAdministrator ? path(.applicationPolicy) : nil,
            delete: path(.deleteApplication),
            list: self.path(isOwn ? .applications : .administration),
            isOwn: isOwn
        )
    }

    /// An application as a heading shows it.
    func summary(_ client: RegisteredClient, _ visit: Visit) -> ApplicationSummary {
        ApplicationSummary(client, words: visit.words, issuer: settings.issuer)
    }
}
