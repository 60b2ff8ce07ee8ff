package import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilTokens
package import Foundation
package import Logging

/// The components that the endpoints of a server share, created once from the configuration.
package struct ServerComponents: Sendable {
    package private(set) var settings: ServerSettings
    /// The settings of the running server, which services read at each use.
    let currentSettings: CurrentSettings
    /// The lookups of the registry, which every request makes through this cache.
    package let registry: CachedRegistry
    /// The store without the lookups of the registry.
    package let store: any UncachedStore
    package let hasher: PasswordHasher
    package let random: RandomBytes
    package let logger: Logger
    package let metrics: ServerMetrics
    package let auditor: Auditor
    /// The fetcher of association files from other hosts; nil if the server was created without one.
    package let associations: (any AssociationFetcher)?
    private(set) var directory: ClientDirectory
    /// The encoder of logos, of which a process has one.
    package let logoEncoder: LogoEncoder
    /// The logos of unregistered clients; nil if the server fetches none.
    let publishedLogos: ClientLogos?
    package private(set) var sessions: SessionManager
    package let tickets: TicketAuthority
    let attempts: AttemptCounter
    let earlierSignIns: EarlierSignIns
    package let challenges: ChallengeReuseDetector
    let audiences: AudienceParameterLog
    private(set) var proofs: DPoPProofs
    let throttles: RequestThrottles
    let redemptions: RedemptionLedger
    let formerTokens: FormerTokenUses
    let lifetime = ServerLifetime()
    let condition = StoreCondition()

    let serverKey: ServerKey
    let keys: KeyRing
    package let clock: @Sendable () -> Date
    let wallClock: @Sendable () -> Date
    let cookies: Cookies
    let subjects: SubjectIdentifiers
    let setupLink: SetupLink

    init(
        settings: ServerSettings,
        store: any AuthorizationServerStore,
        serverKey: ServerKey,
        keys: KeyRing,
        hasher: PasswordHasher,
        associations: (any AssociationFetcher)?,
        clientFiles: (any ClientFileFetcher)?,
        logger: Logger,
        clock: @escaping @Sendable () -> Date,
        wallClock: @escaping @Sendable () -> Date,
        random: RandomBytes
    ) {
        self.settings = settings
        currentSettings = CurrentSettings(settings)
        throttles = RequestThrottles(settings)
        registry = CachedRegistry(store)
        self.store = store
        self.serverKey = serverKey
        self.keys = keys
        self.hasher = hasher
        self.associations = associations
        self.logger = logger
        self.clock = clock
        self.wallClock = wallClock
        self.random = random
        metrics = ServerMetrics()
        auditor = Auditor(store: store, logger: logger, metrics: metrics)
        redemptions = RedemptionLedger(store: store, auditor: auditor, logger: logger)
        formerTokens = FormerTokenUses(serverKey)
        directory = ClientDirectory(
            settings: settings, registry: registry, store: store, files: clientFiles.map { ClientFiles(fetcher: $0) },
            auditor: auditor)
        let logoEncoder = LogoEncoder()
        self.logoEncoder = logoEncoder
        publishedLogos = clientFiles.map { ClientLogos(fetcher: $0, encoder: logoEncoder) }
        cookies = Cookies(issuer: settings.issuer)
        subjects = SubjectIdentifiers(keys.identifiers, serverKey: serverKey)
        sessions = SessionManager(
            store: store, settings: settings, cookies: cookies, auditor: auditor, random: random)
        tickets = TicketAuthority(keys: serverKey.tickets)
        attempts = AttemptCounter(store: store, serverKey: serverKey, metrics: metrics)
        earlierSignIns = EarlierSignIns(keys: serverKey.earlierSignIns, cookies: cookies)
        setupLink = SetupLink(store: store, serverKey: serverKey)
        challenges = ChallengeReuseDetector()
        audiences = AudienceParameterLog(logger: logger)
        proofs = DPoPProofs(
            settings: settings, serverKey: serverKey, used: store, clock: clock, wallClock: wallClock)
    }

    /// Returns the components with other settings, which share everything that counts or caches.
    func changing(_ settings: ServerSettings) -> ServerComponents {
        var changed = self
        changed.settings = settings
        changed.directory.settings = settings
        changed.sessions = SessionManager(
            store: store, settings: settings, cookies: cookies, auditor: auditor, random: random)
        changed.proofs = DPoPProofs(
            settings: settings, serverKey: serverKey, used: store, clock: clock, wallClock: wallClock)
        throttles.approvals.change(limit: settings.approvalsPerMinute)
        return changed
    }

    /// The authentication of users by username or email address and password.
    package var people: SignIn {
        SignIn(
            store: store, hasher: hasher, attempts: attempts, limits: settings.signInLimits,
            throttle: throttles.signIns, signInsPerMinute: settings.signInsPerMinute, earlierSignIns: earlierSignIns,
            issuer: settings.issuer)
    }

    /// Creates a sign-in form that the browser posts to `endpoint`; its form tickets are valid only for `purpose`.
    package func signInForm(at endpoint: Endpoint, purpose: Ticket.Purpose) -> SignInForm {
        SignInForm(
            endpoint: endpoint, purpose: purpose, settings: settings, people: people, sessions: sessions,
            tickets: tickets, earlierSignIns: earlierSignIns, auditor: auditor, random: random)
    }

    /// The introductions of unregistered clients on the consent page.
    private var introductions: UnregisteredClientIntroductions {
        UnregisteredClientIntroductions(store: store, logos: publishedLogos, suffixes: .system)
    }

    /// Returns the path of the logo of a client: of an unregistered client, only if the logo is in memory.
    package func logoPath(of client: RegisteredClient, now: Date) async -> String? {
        guard client.isUnregistered else { return settings.issuer.logoPath(of: client) }
        return await publishedLogos?.knownLogo(of: client, now: now).map { settings.issuer.path(of: $0) }
    }

    var maintenance: MaintenanceService {
        MaintenanceService(
            settings: currentSettings, registry: registry, store: store, keys: keys, serverKey: serverKey,
            auditor: auditor, metrics: metrics, logger: logger, clock: clock)
    }

    var readiness: Readiness { Readiness(registry: registry, lifetime: lifetime, condition: condition) }

    var heartbeat: Heartbeat {
        Heartbeat(
            store: store, redemptions: redemptions, condition: condition, metrics: metrics, logger: logger, clock: clock
        )
    }

    func logoutNotifier(_ sender: any LogoutNoticeSender) -> LogoutNotifier {
        LogoutNotifier(
            settings: settings, store: store, directory: directory, keys: keys, subjects: subjects, sender: sender,
            random: random, metrics: metrics, logger: logger, clock: clock, wallClock: wallClock)
    }

    func protocolHandlers(pages: ServerPages) -> [EndpointHandler] {
        let hints = IDTokenHints(issuer: settings.issuer, keys: keys, subjects: subjects)
        let approvals = throttles.approvals
        let flow = AuthorizationFlow(
            settings: settings, registry: registry, store: store, directory: directory, hints: hints, random: random,
            logger: logger, auditor: auditor, approvals: approvals, audiences: audiences)
        let groups: [[EndpointHandler]] = [
            HealthEndpoints(
                settings: settings, readiness: readiness, pages: pages, addresses: AddressCheck(tickets: tickets)
            ).handlers,
            MetadataEndpoint(
                settings: settings, registry: registry, keys: keys, fetchesDocuments: directory.files != nil
            ).handlers,
            authorizationHandlers(flow),
            deviceHandlers(approvals),
            clientHandlers(flow),
            LogoutEndpoint(
                settings: settings, directory: directory, sessions: sessions, hints: hints, tickets: tickets,
                auditor: auditor, random: random, pages: pages, logger: logger
            ).handlers,
            SetupEndpoint(
                settings: settings, store: store, hasher: hasher, link: setupLink, auditor: auditor,
                signInPath: settings.issuer.path + pages.signIn.path,
                firstStepsPath: settings.issuer.path + pages.firstSteps.path
            ).handlers,
            LogoEndpoint(store: store, published: publishedLogos).handlers,
            CallbackEndpoint(settings: settings, registry: registry).handlers,
            AssociationEndpoint(settings: settings, registry: registry).handlers,
        ]
        return groups.flatMap(\.self)
    }

    /// Creates the handlers of the authorization endpoint and of the forms on its pages.
    private func authorizationHandlers(_ flow: AuthorizationFlow) -> [EndpointHandler] {
        let pages = AuthorizationPages(
            settings: settings, registry: registry, tickets: tickets, cookies: cookies,
            signInForm: signInForm(at: .signIn, purpose: .signIn), random: random, introductions: introductions)
        return AuthorizationEndpoint(flow: flow, pages: pages, sessions: sessions).handlers
            + SignInEndpoint(flow: flow, pages: pages).handlers
            + ConsentEndpoint(question: .consent, flow: flow, pages: pages, sessions: sessions).handlers
            + ConsentEndpoint(question: .confirmation, flow: flow, pages: pages, sessions: sessions).handlers
    }

    /// Creates the handlers of the pages on which users answer the requests of devices.
    private func deviceHandlers(_ approvals: ApprovalThrottle) -> [EndpointHandler] {
        let flow = DeviceFlow(
            settings: settings, registry: registry, store: store, directory: directory,
            guesses: UserCodeThrottle(attempts: attempts),
            approvals: approvals, auditor: auditor, random: random)
        let pages = DevicePages(
            settings: settings, registry: registry, store: store, tickets: tickets,
            signInForm: signInForm(at: .deviceSignIn, purpose: .deviceSignIn), random: random,
            introductions: introductions)
        return DeviceEndpoint(flow: flow, pages: pages, sessions: sessions).handlers
            + DeviceConsentEndpoint(flow: flow, pages: pages, sessions: sessions).handlers
    }

    /// Creates the handlers of the endpoints that clients and APIs call without a user agent.
    private func clientHandlers(_ flow: AuthorizationFlow) -> [EndpointHandler] {
        let refreshTokens = RefreshTokenCodec(keys: serverKey.refreshTokens)
        let accessTokens = IssuedAccessTokenVerifier(issuer: settings.issuer)
        let knownAccessTokens = VerifiedTokenCache(accessTokens)
        let throttle = throttles.clients
        let authenticator = ClientAuthenticator(
            issuer: settings.issuer, registry: registry, store: store, directory: directory,
            assertions: ClientAssertionVerifier(audiences: assertionAudiences), used: throttles.assertions,
            throttle: throttle, auditor: auditor, wallClock: wallClock)
        let issuer = TokenIssuer(
            settings: settings, keys: keys, subjects: subjects, random: random, clock: clock, wallClock: wallClock)
        let grants = GrantContext(
            settings: settings, registry: registry, store: store, keys: keys, issuer: issuer,
            refreshTokens: refreshTokens, formerTokens: formerTokens, challenges: challenges, proofs: proofs,
            auditor: auditor, redemptions: redemptions)
        return registrationHandlers(forgeries: throttle)
            + PushedAuthorizationEndpoint(authenticator: authenticator, flow: flow, proofs: proofs).handlers
            + TokenEndpoint(
                authenticator: authenticator, metrics: metrics, audiences: audiences, proofs: proofs, context: grants
            ).handlers
            + DeviceAuthorizationEndpoint(
                settings: settings, authenticator: authenticator, registry: registry, store: store,
                audiences: audiences, auditor: auditor, random: random
            ).handlers
            + RevocationEndpoint(
                authenticator: authenticator, store: store, refreshTokens: refreshTokens, accessTokens: accessTokens,
                keys: keys, auditor: auditor
            ).handlers
            + IntrospectionEndpoint(
                issuer: settings.issuer,
                callers: IntrospectionAuthenticator(clients: authenticator, registry: registry), registry: registry,
                store: store, accessTokens: knownAccessTokens, keys: keys, wallClock: wallClock
            ).handlers
            + UserInfoEndpoint(
                settings: settings, store: store, accessTokens: knownAccessTokens, keys: keys, proofs: proofs,
                throttle: throttle, auditor: auditor, wallClock: wallClock
            ).handlers
    }

    /// Creates the handlers of the endpoints at which clients register themselves.
    private func registrationHandlers(forgeries: ClientThrottle) -> [EndpointHandler] {
        let sectors = SectorIdentifier(files: directory.files)
        let limits = RegistrationLimits(
            settings: settings, throttle: throttles.registrations, forgeries: forgeries, auditor: auditor)
        return RegistrationEndpoint(
            settings: settings, registry: registry, store: store, sectors: sectors, limits: limits, auditor: auditor,
            random: random
        ).handlers
            + RegisteredClientEndpoint(
                settings: settings, registry: registry, store: store, sectors: sectors, limits: limits, auditor: auditor
            ).handlers
    }

    /// The `aud` values that a client assertion may have: the issuer, every URL of the token endpoint (RFC 7523 §3),
    /// and the URL of the pushed authorization request endpoint (RFC 9126 §2).
    private var assertionAudiences: Set<String> {
        let paths =
            [Endpoint.token.path, Endpoint.pushedAuthorization.path] + settings.endpointAliases.paths(of: .token)
        return Set([settings.issuer.rawValue] + paths.map { settings.issuer.endpoint($0) })
    }
}
