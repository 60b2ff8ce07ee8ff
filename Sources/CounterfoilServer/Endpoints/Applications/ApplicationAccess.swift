import CounterfoilProtocol

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
        else { throw NothingHere() }
        return application
    }

    /// An application as a heading shows it.
    func summary(_ client: RegisteredClient, _ visit: Visit) -> ApplicationSummary {
        ApplicationSummary(client, words: visit.words, issuer: settings.issuer)
    }
}
