@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilStore

/// The endpoints of a server with one set of settings.
///
/// A change of settings creates a new value. Everything that counts or caches is shared with the former one.
final class ServerConfiguration: Sendable {
    let components: ServerComponents
    /// The endpoints in the order in which their parts list them.
    let endpoints: [Endpoint]
    private let parts: [Endpoint: EndpointPart]

    init(_ components: ServerComponents, pages: ServerPages) {
        self.components = components
        let parts = (ServerComponents.protocolParts(pages: pages) + pages.parts).flatMap { part in
            part(components).map { (endpoint: $0.endpoint, part: part) }
        }
        endpoints = parts.map(\.endpoint)
        self.parts = Dictionary(parts.map { ($0.endpoint, $0.part) }, uniquingKeysWith: { first, _ in first })
    }

    /// Creates the handler of an endpoint from the components that work for a request; nil if there is none.
    func handler(of endpoint: Endpoint, with components: ServerComponents) -> EndpointHandler? {
        parts[endpoint]?(components).first { $0.endpoint == endpoint }
    }
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
    /// The association checks that a user starts.
    let associationChecks = PartyLimiter(5, within: 60)
    /// The requests to the administration API.
    let administration = AdministrationThrottle()
    /// The requests to the administration API that wait for events.
    let eventWaits = ConcurrencyLimiter(10)
    /// The checks and test mails for which this server connects to other hosts because an administrator asks.
    let serverChecks = PartyLimiter(6, within: 60)
    /// The questions of a user to other users whether to manage a client.
    let developerQuestions = PartyLimiter(20, within: 3600)
    /// The lines about redirects after a sign-out that were refused, above the level of every request.
    let refusedLogoutRedirects = LogLimiter(linesPerMinute: 10)

    init(_ settings: ServerSettings) {
        approvals = ApprovalThrottle(limit: settings.approvalsPerMinute)
        assertions = ProofBudget(capacity: settings.usedAssertionLimit)
    }
}

extension ServerSettings {
    /// Returns the settings with the issuer, the aliases and the callback origin of others.
    package func keepingOrigins(of others: ServerSettings) -> ServerSettings {
        var settings = self
        if settings.defaultAudience == settings.issuer.rawValue { settings.defaultAudience = others.issuer.rawValue }
        settings.issuer = others.issuer
        settings.endpointAliases = others.endpointAliases
        settings.callbackOrigin = others.callbackOrigin
        return settings
    }
}
