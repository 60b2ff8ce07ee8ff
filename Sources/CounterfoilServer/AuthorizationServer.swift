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

    /// The paths of every endpoint.
    package let routing: Routing
    /// The pages for signed-in users.
    package let pages: ServerPages

    private let components: ServerComponents
    private let handlers: [Endpoint: EndpointHandler.Respond]
    private let crossOrigin: CrossOrigin

    /// Creates a server with the pages for signed-in users.
    ///
    /// Without `associations`, the association files of other hosts cannot be checked. Without `logoutSender`, no back-channel
    /// logout notification is sent.
    public convenience init(
        settings: ServerSettings,
        store: any AuthorizationServerStore,
        serverKey: ServerKey,
        keys: KeyRing,
        hasher: PasswordHasher,
        pages: ServerPages,
        associations: (any AssociationFetcher)? = nil,
        logoutSender: (any LogoutNoticeSender)? = nil,
        logger: Logger
    ) {
        self.init(
            ServerComponents(
                settings: settings, store: store, serverKey: serverKey, keys: keys, hasher: hasher,
                associations: associations, logger: logger, clock: { SteadyClock.shared.now }, wallClock: { Date() },
                random: RandomBytes()),
            pages: pages, logoutSender: logoutSender)
    }

    /// Creates a server with a clock and random bytes that a test knows.
    package convenience init(
        settings: ServerSettings,
        store: any AuthorizationServerStore,
        serverKey: ServerKey,
        keys: KeyRing,
        hasher: PasswordHasher,
        pages: ServerPages,
        associations: (any AssociationFetcher)? = nil,
        logoutSender: (any LogoutNoticeSender)? = nil,
        logger: Logger,
        clock: @escaping @Sendable () -> Date,
        wallClock: @escaping @Sendable () -> Date,
        random: RandomBytes
    ) {
        self.init(
            ServerComponents(
                settings: settings, store: store, serverKey: serverKey, keys: keys, hasher: hasher,
                associations: associations, logger: logger, clock: clock, wallClock: wallClock, random: random),
            pages: pages, logoutSender: logoutSender)
    }

    private init(_ components: ServerComponents, pages: ServerPages, logoutSender: (any LogoutNoticeSender)?) {
        self.components = components
        self.pages = pages
        settings = components.settings
        metrics = components.metrics
        housekeeper = components.housekeeper
        heartbeat = components.heartbeat
        logoutNotifier = logoutSender.map(components.logoutNotifier)
        crossOrigin = CrossOrigin(store: components.store)
        let handlers = components.protocolHandlers(pages: pages) + pages.handlers(components)
        routing = Routing(handlers.map(\.endpoint), settings: components.settings)
        self.handlers = Dictionary(handlers.map { ($0.endpoint, $0.respond) }, uniquingKeysWith: { first, _ in first })
    }

    /// The address of a page that makes the first administrator, once; nil when there is an administrator.
    ///
    /// Each call makes a new address and ends the former.
    public func openSetup() async throws(StoreFault) -> String? {
        guard try await !components.store.hasAdministrator() else { return nil }
        return settings.issuer.endpoint(Endpoint.setup.path) + "?token="
            + components.setupLink.renew(random: components.random)
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
        let now = components.clock()
        guard let session = try? await components.sessions.current(request, now: now) else { return false }
        return endpoint.audience != .administrators || session.person.isAdministrator
    }

    /// Answers a request, whoever may read the answer.
    private func respondToSender(_ request: IncomingRequest, at endpoint: Endpoint) async -> Reply {
        guard endpoint.methods.contains(request.head.method) else {
            return Reply(.methodNotAllowed, fields: [.allow: endpoint.methods.map(\.rawValue).joined(separator: ", ")])
        }
        do {
            return await framed(try await answer(request, at: endpoint), for: request)
        } catch {
            if error is StoreFault || (error as? AuthorizationFlow.Refused)?.fault != nil { metrics.count(.storeError) }
            let refusal = Refusal(error, issuer: settings.issuer)
            refusal.log(to: components.logger, request: request, endpoint: endpoint)
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
        let reply = refusal.reply(
            as: reader, in: request.words, issuer: settings.issuer, home: pages.home, requestID: request.id)
        return await framed(reply, for: request)
    }

    /// Notes that a request was answered: counted, and said on the log without its address, in which secrets can stand.
    public func noteAnswer(
        to request: IncomingRequest, at endpoint: Endpoint?, status: HTTPResponse.Status, after duration: Duration
    ) {
        let seconds = duration / .seconds(1)
        metrics.countRequest(at: endpoint, status: status.code, seconds: seconds)
        components.logger.info(
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
        do { return try await components.store.refreshStatistics() } catch {
            metrics.count(.storeError)
            components.logger.error("\(error)")
            return nil
        }
    }

    /// The back-channel logout notifications that wait, and the age of the oldest in seconds; nil while the store does not answer.
    public func logoutBacklog() async -> (count: Int, age: Double)? {
        do {
            let backlog = try await components.store.logoutBacklog()
            return (backlog.count, backlog.oldest.map { max(0, components.clock().timeIntervalSince($0)) } ?? 0)
        } catch {
            metrics.count(.storeError)
            components.logger.error("failed to read pending back-channel logouts", metadata: ["error": "\(error)"])
            return nil
        }
    }

    /// What stands around a page: the branding of this moment, or what the server was started with while the store is away.
    private func framed(_ reply: Reply, for request: IncomingRequest) async -> Reply {
        // A preview of another look brings its own.
        guard case .page = reply.content, reply.frame == nil else { return reply }
        var reply = reply
        let branding = (try? await components.store.branding()) ?? Branding()
        reply.frame = Frame(
            site: Site(branding, settings: settings, language: request.language), language: request.language)
        return reply
    }

    private func answer(_ request: IncomingRequest, at endpoint: Endpoint) async throws -> Reply {
        guard let respond = handlers[endpoint] else { throw NotFoundError() }
        let now = components.clock()
        // A client that reads the keys sees at once what another process has rotated.
        await components.keys.follow(within: endpoint == .keySet ? 1 : KeyRing.patience, logger: components.logger)
        return try await respond(request, now)
    }
}
