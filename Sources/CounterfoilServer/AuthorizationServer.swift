package import CounterfoilProtocol
import CounterfoilTokens
package import Foundation
public import HTTPTypes
public import Logging

/// The authorization server: a request goes in at an endpoint, an answer comes out.
///
/// It knows no web framework and no database. Whatever goes wrong becomes an answer here and nowhere else.
public final class AuthorizationServer: Sendable {
    /// What the operator has set.
    public let settings: ServerSettings
    /// What has been counted since the start.
    public let metrics: ServerMetrics
    /// What removes what is over; whoever runs the server runs it beside.
    public let housekeeper: Housekeeper

    /// The heartbeat, which runs beside the server.
    public let heartbeat: Heartbeat

    /// What tells applications of sign-outs; nil without a way to reach them.
    public let logoutNotifier: LogoutNotifier?

    private let store: any AuthorizationServerStore
    private let keys: KeyRing
    private let logger: Logger
    private let clock: @Sendable () -> Date
    private let random: RandomBytes
    private let setupLink = SetupLink()
    private let sessions: SessionKeeper

    private let metadata: MetadataEndpoint
    private let authorization: AuthorizationEndpoint
    private let signIn: SignInEndpoint
    private let consent: ConsentEndpoint
    private let confirmation: ConsentEndpoint
    private let token: TokenEndpoint
    private let revocation: RevocationEndpoint
    private let introspection: IntrospectionEndpoint
    private let crossOrigin: CrossOrigin
    private let userInfo: UserInfoEndpoint
    private let logout: LogoutEndpoint
    private let setup: SetupEndpoint
    private let consoleSignIn: ConsoleSignInEndpoint
    private let account: AccountEndpoints
    private let applications: ApplicationEndpoints
    private let administration: AdministrationEndpoints
    private let logos: LogoEndpoint
    private let callback: CallbackEndpoint
    private let association: AssociationEndpoint

    /// Puts a server together; without a way to fetch association files nobody can look at those of foreign hosts.
    public convenience init(
        settings: ServerSettings,
        store: any AuthorizationServerStore,
        serverKey: ServerKey,
        keys: KeyRing,
        hasher: PasswordHasher,
        associations: (any AssociationFetcher)? = nil,
        logoutSender: (any LogoutNoticeSender)? = nil,
        logger: Logger
    ) {
        self.init(
            settings: settings, store: store, serverKey: serverKey, keys: keys, hasher: hasher,
            associations: associations, logoutSender: logoutSender, logger: logger, clock: { SteadyClock.shared.now },
            wallClock: { Date() },
            random: RandomBytes()
        )
    }

    /// Puts a server together with a clock and random bytes that a test knows.
    package init(
        settings: ServerSettings,
        store: any AuthorizationServerStore,
        serverKey: ServerKey,
        keys: KeyRing,
        hasher: PasswordHasher,
        associations: (any AssociationFetcher)? = nil,
        logoutSender: (any LogoutNoticeSender)? = nil,
        logger: Logger,
        clock: @escaping @Sendable () -> Date,
        wallClock: @escaping @Sendable () -> Date,
        random: RandomBytes
    ) {
        self.settings = settings
        self.store = store
        self.keys = keys
        self.logger = logger
        self.clock = clock
        self.random = random
        let metrics = ServerMetrics()
        self.metrics = metrics
        let auditor = Auditor(store: store, logger: logger, metrics: metrics)
        housekeeper = Housekeeper(
            settings: settings, store: store, keys: keys, serverKey: serverKey, auditor: auditor, metrics: metrics,
            logger: logger, clock: clock)
        heartbeat = Heartbeat(store: store, metrics: metrics, logger: logger, clock: clock)

        let cookies = Cookies(issuer: settings.issuer)
        let subjects = SubjectNames(serverKey)
        let hints = IDTokenHints(issuer: settings.issuer, keys: keys, subjects: subjects)
        let flow = AuthorizationFlow(
            settings: settings, store: store, hints: hints, random: random, logger: logger, auditor: auditor,
            approvals: ApprovalThrottle(limit: settings.approvalsPerMinute))
        let sessions = SessionKeeper(store: store, settings: settings, cookies: cookies, random: random)
        self.sessions = sessions
        let tickets = TicketAuthority(key: serverKey.tickets)
        let throttle = SignInThrottle(limits: settings.signInLimits)
        let people = SignIn(store: store, hasher: hasher, throttle: throttle)
        let earlierSignIns = EarlierSignIns(key: serverKey.earlierSignIns, cookies: cookies)
        let pages = AuthorizationPages(
            settings: settings, store: store, tickets: tickets, cookies: cookies, earlierSignIns: earlierSignIns,
            random: random
        )
        metadata = MetadataEndpoint(settings: settings, store: store)
        authorization = AuthorizationEndpoint(flow: flow, pages: pages, sessions: sessions)
        signIn = SignInEndpoint(
            flow: flow, pages: pages, sessions: sessions,
            people: people
        )
        consent = ConsentEndpoint(question: .consent, flow: flow, pages: pages, sessions: sessions)
        confirmation = ConsentEndpoint(question: .confirmation, flow: flow, pages: pages, sessions: sessions)
        let refreshTokens = RefreshTokenAuthority(key: serverKey.refreshTokens)
        let challenges = ChallengeWatch()
        let accessTokens = IssuedAccessTokenVerifier(issuer: settings.issuer)
        let knownAccessTokens = KnownAccessTokens(accessTokens)
        let clientThrottle = ClientThrottle()
        let authenticator = ClientAuthenticator(
            issuer: settings.issuer, store: store,
            assertions: ClientAssertionVerifier(
                // RFC 7523 §3: the token endpoint by each URL that a client may know.
                audiences: Set(
                    [settings.issuer.rawValue]
                        + ([Endpoint.token.path] + settings.endpointAliases.paths(of: .token))
                        .map { settings.issuer.endpoint($0) })),
            throttle: clientThrottle, auditor: auditor, wallClock: wallClock)
        token = TokenEndpoint(
            settings: settings,
            authenticator: authenticator,
            store: store,
            issuer: TokenIssuer(
                settings: settings, keys: keys, subjects: subjects, random: random, clock: clock,
                wallClock: wallClock),
            refreshTokens: refreshTokens,
            challenges: challenges,
            auditor: auditor,
            metrics: metrics
        )
        revocation = RevocationEndpoint(
            authenticator: authenticator, store: store, refreshTokens: refreshTokens, accessTokens: accessTokens,
            keys: keys, auditor: auditor)
        introspection = IntrospectionEndpoint(
            issuer: settings.issuer, callers: IntrospectionAuthenticator(clients: authenticator, store: store),
            store: store, accessTokens: knownAccessTokens, keys: keys, wallClock: wallClock)
        crossOrigin = CrossOrigin(store: store)
        logoutNotifier = logoutSender.map {
            LogoutNotifier(
                settings: settings, store: store, keys: keys, subjects: subjects, sender: $0, random: random,
                metrics: metrics, logger: logger, clock: clock, wallClock: wallClock)
        }
        userInfo = UserInfoEndpoint(
            settings: settings, store: store, accessTokens: knownAccessTokens, keys: keys, throttle: clientThrottle,
            auditor: auditor, wallClock: wallClock)
        logout = LogoutEndpoint(
            settings: settings, store: store, sessions: sessions, hints: hints, tickets: tickets, auditor: auditor,
            random: random)
        setup = SetupEndpoint(settings: settings, store: store, hasher: hasher, link: setupLink, auditor: auditor)

        let console = Console(
            settings: settings, store: store, sessions: sessions, tickets: tickets, random: random, logger: logger,
            auditor: auditor)
        consoleSignIn = ConsoleSignInEndpoint(
            console: console, routes: RouteTable(settings), people: people, earlierSignIns: earlierSignIns)
        account = AccountEndpoints(console: console, hasher: hasher, throttle: throttle)
        let encoder = LogoEncoder()
        applications = ApplicationEndpoints(
            console: console, encoder: encoder, associations: associations.map { AssociationCheck(fetcher: $0) },
            challenges: challenges)
        administration = AdministrationEndpoints(console: console, encoder: encoder)
        logos = LogoEndpoint(store: store)
        callback = CallbackEndpoint(settings: settings, store: store)
        association = AssociationEndpoint(settings: settings, store: store)
    }

    /// The address of a page that makes the first administrator, once; nil when there is an administrator.
    ///
    /// Each call makes a new address and ends the former.
    public func openSetup() async throws(StoreFault) -> String? {
        guard try await !store.hasAdministrator() else { return nil }
        return settings.issuer.endpoint(Endpoint.setup.path) + "?token=" + setupLink.renew(random: random)
    }

    /// Answers a request; never throws.
    public func respond(to request: IncomingRequest, at endpoint: Endpoint) async -> Reply {
        let sharing = await crossOrigin.sharing(of: endpoint, with: request)
        if let allowed = crossOrigin.preflight(request, at: endpoint, sharing) { return sharing.mark(allowed) }
        return sharing.mark(await respondToSender(request, at: endpoint))
    }

    /// Whether a request may send a large body to an endpoint that reads one for a signed-in user only.
    ///
    /// False where the endpoint would refuse the request by its head, and where that cannot be found out.
    public func admitsLargeBody(_ request: IncomingRequest, at endpoint: Endpoint) async -> Bool {
        guard let session = try? await sessions.current(request, now: clock()) else { return false }
        return switch endpoint {
        case .administration, .branding, .audit: session.person.isAdministrator
        default: true
        }
    }

    /// Answers a request, whoever may read the answer.
    private func respondToSender(_ request: IncomingRequest, at endpoint: Endpoint) async -> Reply {
        guard endpoint.methods.contains(request.head.method) else {
            return Reply(.methodNotAllowed, fields: [.allow: endpoint.methods.map(\.rawValue).joined(separator: ", ")])
        }
        do {
            return await framed(try await answer(request, at: endpoint), for: request)
        } catch let needed as Console.SignInNeeded {
            return .seeOther(needed.url(issuer: settings.issuer))
        } catch {
            if error is StoreFault || (error as? AuthorizationFlow.Refused)?.fault != nil { metrics.count(.storeError) }
            let refusal = Refusal(error, issuer: settings.issuer)
            refusal.log(to: logger, request: request, endpoint: endpoint)
            return await refuse(request, refusal, as: endpoint.answersPeople ? .page : .json)
        }
    }

    /// Answers a request that was refused on its way to an endpoint.
    public func refuse(_ request: IncomingRequest, _ refusal: Refusal, at endpoint: Endpoint) async -> Reply {
        let sharing = await crossOrigin.sharing(of: endpoint, with: request)
        return sharing.mark(await refuse(request, refusal, as: endpoint.answersPeople ? .page : .json))
    }

    /// Answers a request that was refused before it came to an endpoint.
    public func refuse(_ request: IncomingRequest, _ refusal: Refusal, as reader: Refusal.Reader) async -> Reply {
        let refusal = settings.origin(of: request.head) == .issuer ? refusal : refusal.withoutWayOn
        let reply = refusal.reply(as: reader, in: request.words, issuer: settings.issuer, requestID: request.id)
        return await framed(reply, for: request)
    }

    /// Notes that a request was answered: counted, and said on the log without its address, in which secrets can stand.
    public func noteAnswer(
        to request: IncomingRequest, at endpoint: Endpoint?, status: HTTPResponse.Status, after duration: Duration
    ) {
        let seconds = duration / .seconds(1)
        metrics.countRequest(at: endpoint, status: status.code, seconds: seconds)
        logger.info(
            "answered",
            metadata: [
                "method": "\(request.head.method.rawValue.prefix(16))",
                "endpoint": "\(endpoint.map { "\($0)" } ?? "none")", "status": "\(status.code)",
                "milliseconds": "\(Int(seconds * 1_000_000) / 1000)", "source": "\(request.source)",
                "request": "\(request.id)",
            ])
    }

    /// What has become of the refresh tokens of every application together; nil while the store does not answer.
    public func refreshStatistics() async -> RefreshStatistics? {
        do { return try await store.refreshStatistics() } catch {
            metrics.count(.storeError)
            logger.error("\(error)")
            return nil
        }
    }

    /// The back-channel logout notifications that wait, and the age of the oldest in seconds; nil while the store does not answer.
    public func logoutBacklog() async -> (count: Int, age: Double)? {
        do {
            let backlog = try await store.logoutBacklog()
            return (backlog.count, backlog.oldest.map { max(0, clock().timeIntervalSince($0)) } ?? 0)
        } catch {
            metrics.count(.storeError)
            logger.error("failed to read pending back-channel logouts", metadata: ["error": "\(error)"])
            return nil
        }
    }

    /// What stands around a page: the branding of this moment, or what the server was started with while the store is away.
    private func framed(_ reply: Reply, for request: IncomingRequest) async -> Reply {
        // A preview of another look brings its own.
        guard case .page = reply.content, reply.frame == nil else { return reply }
        var reply = reply
        let branding = (try? await store.branding()) ?? Branding()
        reply.frame = Frame(
            site: Site(branding, settings: settings, language: request.language), language: request.language)
        return reply
    }

    private func answer(_ request: IncomingRequest, at endpoint: Endpoint) async throws -> Reply {
        let now = clock()
        // Whoever asks for the keys sees at once what another process has rotated.
        await keys.follow(within: endpoint == .keySet ? 1 : KeyRing.patience, logger: logger)
        switch endpoint {
        case .home: return .seeOther(settings.issuer.path + Endpoint.account.path)
        case .liveness:
            return Reply(.ok, .json(Array(#"{"status":"alive"}"#.utf8)))
        case .readiness:
            _ = try await store.scopes()
            return Reply(.ok, .json(Array(#"{"status":"ready"}"#.utf8)))
        case .metadata:
            return try await metadata.respond(now: now)
        case .keySet:
            return Reply(
                .ok, .json(keys.publicKeys.encoded()),
                fields: [.cacheControl: "public, max-age=300"]
            )
        case .authorization: return try await authorization.respond(to: request, now: now)
        case .signIn: return try await signIn.respond(to: request, now: now)
        case .consent: return try await consent.respond(to: request, now: now)
        case .confirmation: return try await confirmation.respond(to: request, now: now)
        case .token: return try await token.respond(to: request, now: now)
        case .revocation: return try await revocation.respond(to: request, now: now)
        case .introspection: return try await introspection.respond(to: request, now: now)
        case .userInfo: return try await userInfo.respond(to: request, now: now)
        case .logout: return try await logout.respond(to: request, now: now)
        case .logoutAnswer: return try await logout.decide(request, now: now)
        case .setup: return try await setup.respond(to: request, now: now)
        case .consoleSignIn: return try await consoleSignIn.respond(to: request, now: now)
        case .account, .connectedApplication, .sessions, .password, .signOut:
            return try await account.respond(to: request, at: endpoint, now: now)
        case .applications, .newApplication, .application, .editApplication, .applicationLogo, .applicationPolicy,
            .connectApplication, .applicationSecrets, .applicationAssociation, .deleteApplication, .verdicts:
            return try await applications.respond(to: request, at: endpoint, now: now)
        case .administration, .branding, .audit:
            return try await administration.respond(to: request, at: endpoint, now: now)
        case .logo: return try await logos.respond(to: request)
        case .callback: return try await callback.respond(to: request)
        case .appleAssociation, .androidAssociation: return try await association.respond(to: request, at: endpoint)
        }
    }
}
