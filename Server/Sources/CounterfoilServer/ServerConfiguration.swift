@_spi(Counterfoil) import CounterfoilProtocol

/// The endpoints of a server with one set of settings.
///
/// A change of settings creates a new value. Everything that counts or caches is shared with the former one.
final class ServerConfiguration: Sendable {
    let components: ServerComponents
    /// The endpoints in the order in which their parts list them.
    let endpoints: [Endpoint]
    let handlers: [Endpoint: EndpointHandler]

    init(_ components: ServerComponents, pages: ServerPages) {
        self.components = components
        let handlers = components.protocolHandlers(pages: pages) + pages.handlers(components)
        endpoints = handlers.map(\.endpoint)
        self.handlers = Dictionary(handlers.map { ($0.endpoint, $0) }, uniquingKeysWith: { first, _ in first })
    }
}

/// The settings of a running server, for the services that run as long as the process.
final class CurrentSettings: Sendable {
    private let settings: Mutex<ServerSettings>

    init(_ settings: ServerSettings) { self.settings = Mutex(settings) }

    var value: ServerSettings { settings.withLock(\.self) }

    func replace(by settings: ServerSettings) { self.settings.withLock { $0 = settings } }
}

/// The counters in memory that limit requests, and that a change of settings does not reset.
struct RequestThrottles: Sendable {
    let approvals: ApprovalThrottle
    /// The failed authentications of clients, and tokens that are forged.
    let clients = ClientThrottle()
    let registrations = RegistrationThrottle()
    let signIns = SignInThrottle()
    /// The space of used client assertions.
    let assertions: ProofBudget

    init(_ settings: ServerSettings) {
        approvals = ApprovalThrottle(limit: settings.approvalsPerMinute)
        assertions = ProofBudget(capacity: settings.usedAssertionLimit)
    }
}

extension ServerSettings {
    /// Returns the settings with the issuer, the aliases and the callback origin of others.
    package func keepingPlaces(of others: ServerSettings) -> ServerSettings {
        var settings = self
        if settings.defaultAudience == settings.issuer.rawValue { settings.defaultAudience = others.issuer.rawValue }
        settings.issuer = others.issuer
        settings.endpointAliases = others.endpointAliases
        settings.callbackOrigin = others.callbackOrigin
        return settings
    }
}
