package import CounterfoilProtocol
package import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
package import Foundation
package import Logging

/// The components that the endpoints of a server share, created once from the configuration.
package struct ServerComponents: Sendable {
    package private(set) var settings: ServerSettings
    /// The request for which the components work; nil for a service.
    package private(set) var request: RequestContext?
    /// The settings of the running server, which services read at each use.
    let currentSettings: CurrentSettings
    /// The lookups of the registry, which every request makes through this cache.
    package private(set) var registry: CachedRegistry
    /// The store without the lookups of the registry.
    package private(set) var store: any UncachedStore
    package private(set) var hasher: PasswordHasher
    package let random: RandomBytes
    package private(set) var logger: Logger
    package let metrics: ServerMetrics
    package private(set) var auditor: Auditor
    /// The fetcher of association files from other hosts; nil if the server was created without one.
    package let associations: (any AssociationFetcher)?
    private(set) var directory: ClientDirectory
    package let formats: ContentFormats
    /// The way in which mails leave the server; nil if no mail is set up.
    package let mailSender: (any MailSender)?
    /// The reporter of the installation; nil if the program of the server has none.
    package let reporter: (any InstallationReporter)?
    /// The encoder of logos, of which a process has one.
    package let logoEncoder: LogoEncoder
    /// The logos of unregistered clients; nil if the server fetches none.
    let publishedLogos: ClientLogos?
    package private(set) var sessions: SessionManager
    package let tickets: TicketAuthority
    private(set) var attempts: AttemptCounter
    let earlierSignIns: EarlierSignIns
    package let challenges: ChallengeReuseDetector
    private(set) var audiences: AudienceParameterLog
    private(set) var proofs: DPoPProofs
    let throttles: RequestThrottles
    private(set) var redemptions: RedemptionLedger
    let assertions: ClientAssertionVerifier
    let knownAccessTokens: VerifiedTokenCache
    private(set) var metadata = MetadataCache()
    let previousKeyTokens: PreviousKeyTokenUses
    package let lifetime = ServerLifetime()
    /// The mark of this server in the lease of the maintenance.
    package let leaseHolder = LeaseHolder()
    private let activity: ActivityLedger
    let condition = StoreCondition()

    let serverKey: ServerKey
    let keys: KeyRing
    package let clock: @Sendable () -> Date
    let wallClock: @Sendable () -> Date
    let cookies: Cookies
    let subjects: SubjectIdentifiers
    private(set) var setupLink: SetupLink

    init(
        settings: ServerSettings,
        store: any AuthorizationServerStore,
        serverKey: ServerKey,
        keys: KeyRing,
        hasher: PasswordHasher,
        formats: ContentFormats,
        associations: (any AssociationFetcher)?,
        clientFiles: (any ClientFileFetcher)?,
        mailSender: (any MailSender)?,
        reporter: (any InstallationReporter)?,
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
        self.formats = formats
        self.mailSender = mailSender
        self.reporter = reporter
        self.associations = associations
        self.logger = logger
        self.clock = clock
        self.wallClock = wallClock
        self.random = random
        metrics = ServerMetrics()
        auditor = Auditor(store: store, logger: logger, metrics: metrics)
        redemptions = RedemptionLedger(store: store, auditor: auditor, logger: logger)
        activity = ActivityLedger(store: store, metrics: metrics)
        previousKeyTokens = PreviousKeyTokenUses(serverKey)
        assertions = ClientAssertionVerifier(audiences: Self.assertionAudiences(of: settings))
        knownAccessTokens = VerifiedTokenCache(IssuedAccessTokenVerifier(issuer: settings.issuer))
        directory = ClientDirectory(
            settings: settings, registry: registry, store: store, files: clientFiles.map { ClientFiles(fetcher: $0) },
            auditor: auditor)
        let logoEncoder = LogoEncoder(formats)
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
        changed.metadata = MetadataCache()
        throttles.approvals.change(limit: settings.approvalsPerMinute)
        return changed
    }

    /// Returns the components that work for one request, which share everything that counts or caches.
    ///
    /// Their operations of the store end at the deadline of the request, and their spans and log lines belong to its
    /// trace.
    func serving(_ request: RequestContext) -> ServerComponents {
        var bound = self
        bound.request = request
        bound.logger = logger.serving(request)
        bound.registry = registry.serving(request)
        let store = store.serving(request)
        bound.store = store
        bound.attempts.store = store
        bound.hasher = hasher.serving(request)
        bound.auditor.store = store
        bound.auditor.logger = bound.logger
        bound.auditor.notices = bound.mails
        bound.directory.registry = bound.registry
        bound.directory.store = store
        bound.directory.auditor = bound.auditor
        bound.directory.request = request
        bound.sessions.store = store
        bound.sessions.auditor = bound.auditor
        bound.proofs.used = store
        bound.setupLink.store = store
        bound.redemptions.store = store
        bound.redemptions.auditor = bound.auditor
        bound.redemptions.logger = bound.logger
        bound.audiences.logger = bound.logger
        return bound
    }

    /// Returns the CORS rules for the request of these components.
    func serving(_ crossOrigin: CrossOrigin) -> CrossOrigin {
        crossOrigin.serving(registry: registry, store: store, logger: logger)
    }

    /// The authentication of users by username or email address and password.
    package var users: SignIn {
        SignIn(
            store: store, hasher: hasher, attempts: attempts, limits: settings.signInLimits,
            throttle: throttles.signIns, signInsPerMinute: settings.signInsPerMinute, earlierSignIns: earlierSignIns,
            issuer: settings.issuer)
    }

    private var passkeys: PasskeySignIn {
        PasskeySignIn(store: store, settings: settings, throttle: throttles.signIns)
    }

    /// The verification and the setup of second factors.
    package var secondFactors: SecondFactors {
        SecondFactors(
            store: store, serverKey: serverKey, attempts: attempts, settings: settings, logger: logger,
            random: random, wallClock: wallClock)
    }

    /// Creates a sign-in form that the browser posts to `endpoint`; its form tickets are valid only for `purpose`.
    package func signInForm(at endpoint: Endpoint, purpose: Ticket.Purpose) -> SignInForm {
        SignInForm(
            endpoint: endpoint, purpose: purpose, settings: settings, users: users, passkeys: passkeys,
            secondFactors: secondFactors,
            remembered: RememberedBrowsers(
                keys: serverKey.rememberedBrowsers, cookies: cookies, days: settings.secondFactorMemory),
            pendingSignIns: serverKey.pendingSignIns, sessions: sessions, tickets: tickets,
            earlierSignIns: earlierSignIns, auditor: auditor, random: random, links: store,
            offersRecovery: offersRecovery)
    }

    /// Whether mail is set up.
    package var sendsMail: Bool { mailSender != nil }

    /// The limit of the test mails and checks of the server that an administrator may start.
    package var serverChecks: PartyLimiter { throttles.serverChecks }

    /// The limit of the questions of a user to other users whether to manage a client.
    package var developerQuestions: PartyLimiter { throttles.developerQuestions }

    /// Whether a user can get back into an account without an operator.
    var offersRecovery: Bool { sendsMail || settings.secondFactor != .off }

    /// The introductions of unregistered clients on the consent page.
    var introductions: UnregisteredClientIntroductions {
        UnregisteredClientIntroductions(store: store, logos: publishedLogos, suffixes: .system)
    }

    /// The limit of the association checks that a user may start.
    package var associationChecks: PartyLimiter { throttles.associationChecks }

    /// Returns the path of the logo of a client: of an unregistered client, only if the logo is in memory.
    package func logoPath(of client: RegisteredClient, now: Date) async -> String? {
        guard client.isUnregistered else { return settings.issuer.logoPath(of: client) }
        return await publishedLogos?.knownLogo(of: client, now: now).map { settings.issuer.path(of: $0) }
    }

    var maintenance: MaintenanceService {
        MaintenanceService(
            settings: currentSettings, registry: registry, store: store, keys: keys, serverKey: serverKey,
            holder: leaseHolder, auditor: auditor, metrics: metrics, logger: logger, clock: clock)
    }

    var readiness: Readiness { Readiness(registry: registry, lifetime: lifetime, condition: condition) }

    var heartbeat: Heartbeat {
        Heartbeat(
            store: store, redemptions: redemptions, activity: activity, condition: condition, metrics: metrics,
            logger: logger, clock: clock)
    }

    /// The queue of mails; nil if no mail is set up.
    package var mails: MailQueue? {
        guard sendsMail else { return nil }
        return MailQueue(
            issuer: settings.issuer, store: store, serverKey: serverKey, attempts: attempts, random: random)
    }

    func mailDelivery(_ sender: any MailSender) -> MailDelivery {
        MailDelivery(
            settings: currentSettings, registry: registry, store: store, serverKey: serverKey, sender: sender,
            metrics: metrics, logger: logger, clock: clock)
    }

    func webhookNotifier(_ sender: any WebhookSender) -> WebhookNotifier {
        WebhookNotifier(
            store: store, serverKey: serverKey, sender: sender, auditor: auditor, random: random, metrics: metrics,
            logger: logger, clock: clock, wallClock: wallClock)
    }

    func logoutNotifier(_ sender: any LogoutNoticeSender) -> LogoutNotifier {
        LogoutNotifier(
            settings: settings, store: store, directory: directory, keys: keys, subjects: subjects, sender: sender,
            random: random, metrics: metrics, logger: logger, clock: clock, wallClock: wallClock)
    }
}
