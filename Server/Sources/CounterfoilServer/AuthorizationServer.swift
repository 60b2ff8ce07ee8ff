@_spi(Counterfoil) package import CounterfoilProtocol
public import CounterfoilStore
import CounterfoilTokens
public import Foundation
package import HTTPTypes
public import Logging

/// The authorization server, which takes the requests to its endpoints and returns the responses.
///
/// It depends on no web framework and no database: a web layer receives the requests and sends the responses, and
/// a store keeps the records. ``respond(to:at:)`` turns every error into an error response.
public final class AuthorizationServer: Sendable {
    /// The operator's settings, which ``replaceSettings(by:)`` replaces.
    public var settings: ServerSettings { configuration.components.settings }
    /// ``ServerSettings/strictTransportAge``, without a copy of the settings.
    package var strictTransportAge: Int { configuration.components.settings.strictTransportAge }
    /// The counters of requests, errors and other events since the start of this process.
    package let metrics: ServerMetrics
    /// The uses of refresh tokens of former server keys that clients keep.
    package let previousKeyTokens: PreviousKeyTokenUses
    /// The service that deletes expired records and rotates signing keys; run it in a separate task.
    public let maintenance: MaintenanceService

    /// The service that writes a heartbeat to the store every two seconds, so that a gap reveals an outage; run it in a
    /// separate task.
    public let heartbeat: Heartbeat

    /// The service that sends back-channel logout notifications, to be run in a separate task; nil if the
    /// server was created without a `logoutSender`.
    public let logoutNotifier: LogoutNotifier?

    /// The service that sends the queued mails, to be run in a separate task; nil if the server was created without a
    /// `mailSender`.
    public let mailDelivery: MailDelivery?

    /// The service that sends events to webhooks, to be run in a separate task; nil if the server was created without a
    /// `webhookSender`.
    public let webhookNotifier: WebhookNotifier?

    package let routing: Routing
    package let pages: ServerPages

    /// The components of the start, of which only those without settings are used here.
    let components: ServerComponents
    private let crossOrigin: CrossOrigin
    private let current: Mutex<ServerConfiguration>

    /// Creates a server that uses the clock of its store, the wall clock of the system for tokens, and random bytes.
    ///
    /// A host lists the apps that may claim its https URLs in association files. Without `associations`, the server
    /// cannot fetch these files from other hosts, so it cannot check whether a host lists the app of a client.
    /// Without `clientFiles`, it accepts no client that identifies itself by the URL of its document.
    /// Without `logoutSender`, the server sends no back-channel logout notifications. Without `mailSender`, it offers
    /// nothing that needs mail. Without `webhookSender`, the events of webhooks wait for a server that has one.
    public convenience init(
        settings: ServerSettings,
        store: any AuthorizationServerStore,
        serverKey: ServerKey,
        keys: KeyRing,
        hasher: PasswordHasher,
        pages: ServerPages,
        associations: (any AssociationFetcher)? = nil,
        clientFiles: (any ClientFileFetcher)? = nil,
        logoutSender: (any LogoutNoticeSender)? = nil,
        mailSender: (any MailSender)? = nil,
        webhookSender: (any WebhookSender)? = nil,
        logger: Logger
    ) {
        self.init(
            ServerComponents(
                settings: settings, store: store, serverKey: serverKey, keys: keys, hasher: hasher,
                formats: pages.formats, associations: associations, clientFiles: clientFiles,
                mailSender: mailSender, reporter: nil, logger: logger,
                clock: { store.now() },
                wallClock: { Date() },
                random: RandomBytes()),
            pages: pages, logoutSender: logoutSender, mailSender: mailSender, webhookSender: webhookSender)
    }

    /// Creates a server with the clocks and the random bytes of a test.
    package convenience init(
        settings: ServerSettings,
        store: any AuthorizationServerStore,
        serverKey: ServerKey,
        keys: KeyRing,
        hasher: PasswordHasher,
        pages: ServerPages,
        associations: (any AssociationFetcher)? = nil,
        clientFiles: (any ClientFileFetcher)? = nil,
        logoutSender: (any LogoutNoticeSender)? = nil,
        mailSender: (any MailSender)? = nil,
        reporter: (any InstallationReporter)? = nil,
        webhookSender: (any WebhookSender)? = nil,
        logger: Logger,
        clock: @escaping @Sendable () -> Date,
        wallClock: @escaping @Sendable () -> Date,
        random: RandomBytes
    ) {
        self.init(
            ServerComponents(
                settings: settings, store: store, serverKey: serverKey, keys: keys, hasher: hasher,
                formats: pages.formats, associations: associations, clientFiles: clientFiles,
                mailSender: mailSender, reporter: reporter, logger: logger,
                clock: clock,
                wallClock: wallClock, random: random),
            pages: pages, logoutSender: logoutSender, mailSender: mailSender, webhookSender: webhookSender)
    }

    private init(
        _ components: ServerComponents, pages: ServerPages, logoutSender: (any LogoutNoticeSender)?,
        mailSender: (any MailSender)?, webhookSender: (any WebhookSender)?
    ) {
        self.components = components
        self.pages = pages
        metrics = components.metrics
        previousKeyTokens = components.previousKeyTokens
        maintenance = components.maintenance
        heartbeat = components.heartbeat
        logoutNotifier = logoutSender.map(components.logoutNotifier)
        mailDelivery = mailSender.map(components.mailDelivery)
        webhookNotifier = webhookSender.map(components.webhookNotifier)
        crossOrigin = CrossOrigin(
            registry: components.registry, store: components.store, issuer: components.settings.issuer,
            logger: components.logger, clock: components.clock)
        let configuration = ServerConfiguration(components, pages: pages)
        current = Mutex(configuration)
        routing = Routing(configuration.endpoints, settings: components.settings)
    }

    private var configuration: ServerConfiguration { current.withLock(\.self) }

    /// Replaces the settings for the requests that begin after this call.
    ///
    /// A request that is being answered ends with the settings with which it began. What the server counts and caches
    /// stays. The issuer, the paths of endpoints and the callback origin cannot change while the server runs, so these
    /// three keep their values.
    public func replaceSettings(by settings: ServerSettings) {
        let settings = settings.keepingOrigins(of: self.settings)
        components.currentSettings.replace(by: settings)
        let configuration = ServerConfiguration(components.changing(settings), pages: pages)
        current.withLock { $0 = configuration }
    }

    /// Counts new settings that were refused, for the metrics; the former ones stay in use.
    package func noteRefusedSettings() { metrics.count(.settingsFailure) }

    /// Returns the one-time URL of the page that creates the first owner; nil if there is an owner.
    ///
    /// Each call creates a new URL and invalidates the previous one.
    ///
    /// - Parameter age: The number of seconds for which a URL stays valid and is returned again. Other servers with the
    ///   same store may have shown it to the owner.
    public func openSetup(keepingFor age: TimeInterval = 0) async throws(StoreFault) -> String? {
        let now = components.clock()
        let secret = try await components.setupLink.renew(
            unlessMadeAfter: now.addingTimeInterval(-age), random: components.random, now: now)
        return secret.map { settings.issuer.endpoint(Endpoint.setup.path) + "?token=" + $0 }
    }

    /// Responds to a request that was routed to an endpoint; every error becomes an error response.
    public func respond(to request: IncomingRequest, at endpoint: Endpoint) async -> Reply {
        var request = request
        let patience = endpoint.answersWithoutStore ? Self.patienceWithStore : RequestContext.timeLimit
        request.context.deadline = .now + patience
        return await respondInTime(to: request, at: endpoint)
    }

    /// The time for which an endpoint that can do without the store waits for it.
    private static let patienceWithStore = Duration.seconds(1)

    /// Reports in ``Endpoint/readiness`` from now on that this process stops.
    ///
    /// Load balancers then send it nothing more. Requests are still answered.
    public func beginStopping() { components.lifetime.beginStopping() }

    /// Whether ``beginStopping()`` was called.
    package var isStopping: Bool { components.lifetime.isStopping }

    /// Returns the answer of `/readyz`.
    package func readiness() async -> ReadinessReport { await components.readiness.report() }

    private func respondInTime(to request: IncomingRequest, at endpoint: Endpoint) async -> Reply {
        let configuration = configuration
        let components = configuration.components.serving(request.context)
        let crossOrigin = components.serving(crossOrigin)
        let allowedFields =
            components.settings.crossOriginFields
            + (endpoint.isOfAdministrationAPI ? ["If-Match", "Idempotency-Key"] : [])
        if let answer = await crossOrigin.preflight(request, at: endpoint, allowing: allowedFields) { return answer }
        var client = RequestingClient.unknown
        let reply = components.proofs.supplyingNonce(
            await respondToSender(request, at: endpoint, as: configuration, with: components, client: &client),
            to: request, at: endpoint)
        return await crossOrigin.share(reply, to: request, at: endpoint, of: client)
    }

    /// Returns true if the server may read a large body of a request to an endpoint for signed-in users.
    ///
    /// The result is false if the request has no valid session, if the user lacks the required role, or if the session
    /// cannot be read.
    package func admitsLargeBody(_ request: IncomingRequest, at endpoint: Endpoint) async -> Bool {
        let now = components.clock()
        let bound = configuration.components.serving(request.context)
        guard let session = try? await bound.sessions.current(request, now: now) else {
            return false
        }
        return endpoint.audience.admission(of: session.user, changing: true) == .admitted
    }

    /// Responds to a request; the caller adds the CORS fields.
    private func respondToSender(
        _ request: IncomingRequest, at endpoint: Endpoint, as configuration: ServerConfiguration,
        with components: ServerComponents, client: inout RequestingClient
    ) async -> Reply {
        guard endpoint.methods.contains(request.head.method) else {
            return Reply(
                .methodNotAllowed,
                endpoint.reader.content(of: ProblemDetails(.methodNotAllowed)),
                fields: [.allow: endpoint.methods.map(\.rawValue).joined(separator: ", ")])
        }
        // A page can issue a code, open a pushed request or end a session. The user may never follow the link, and a
        // browser that gets no success requests the page again when the user does.
        guard !(endpoint.answersUsers && request.isAheadOfUser) else { return Reply(.forbidden) }
        let now = components.clock()
        let answer: EndpointHandler.Answer
        do {
            answer = try await self.answer(
                request, at: endpoint, as: configuration, with: components, client: &client, now: now)
        } catch { answer = .refusal(Refusal(error, at: endpoint)) }
        switch answer {
        case .reply(let reply):
            if let entry = request.refusal.entry {
                var metadata = Self.metadata(of: request, at: endpoint)
                metadata.merge(entry.metadata) { own, _ in own }
                metadata["status"] = "\(reply.status.code)"
                components.logger.log(
                    level: Self.level(of: entry, at: endpoint), "refused a request", metadata: metadata)
            }
            return await framed(reply, for: request, with: components)
        case .refusal(let refusal):
            if refusal.storeFault != nil { metrics.count(.storeError) }
            switch refusal.storeFault {
            // The store may take no commits.
            case .unavailable, .unconfirmed: components.condition.suspect(at: .now)
            case .damaged, .unsupported, nil: break
            }
            return await refused(request, refusal, at: endpoint, with: components, now: now)
        }
    }

    /// Creates the error response to a request that the web layer refuses before the endpoint handles it, for
    /// example because the body is too large.
    package func refuse(_ request: IncomingRequest, _ refusal: Refusal, at endpoint: Endpoint) async -> Reply {
        let components = configuration.components.serving(request.context)
        let reply = await refused(request, refusal, at: endpoint, with: components, now: components.clock())
        return await components.serving(crossOrigin).share(reply, to: request, at: endpoint, of: .unknown)
    }

    /// Creates the error page for a request whose endpoint is not known.
    package func refuse(_ request: IncomingRequest, _ refusal: Refusal) async -> Reply {
        let components = configuration.components.serving(request.context)
        return await refused(request, refusal, at: nil, with: components, now: components.clock())
    }

    /// Records and logs a refusal, and creates the error response.
    private func refused(
        _ request: IncomingRequest, _ refusal: Refusal, at endpoint: Endpoint?, with components: ServerComponents,
        now: Date
    ) async -> Reply {
        request.context.span?.note(.errorType(refusal.errorCode))
        await record(refusal, of: request, at: endpoint, with: components, now: now)
        var metadata = Self.metadata(of: request, at: endpoint)
        let entry = request.refusal.entry
        if let entry { metadata.merge(entry.metadata) { own, _ in own } }
        refusal.log(
            to: components.logger, at: entry.map { Self.level(of: $0, at: endpoint) } ?? .info, with: metadata)
        let settings = components.settings
        let refusal = settings.origin(of: request.head) == .issuer ? refusal : refusal.withoutContinueLink
        let reply = refusal.reply(
            as: endpoint?.reader ?? .page, in: request.words, issuer: settings.issuer, pages: pages.linked)
        return await framed(reply, for: request, with: components, isFault: refusal.isFault)
    }

    /// Records a refusal in the audit log, unless the endpoint has recorded one.
    private func record(
        _ refusal: Refusal, of request: IncomingRequest, at endpoint: Endpoint?, with components: ServerComponents,
        now: Date
    ) async {
        guard request.refusal.entry == nil, let reason = refusal.reason,
            let kind = endpoint.map(\.kindOfRefusals) ?? .browserRequest
        else { return }
        await components.auditor.refuse(
            kind, because: reason, request,
            user: kind == .browserRequest ? await components.sessions.owner(of: request) : refusal.user,
            client: refusal.client, detail: Self.detail(of: refusal, because: reason, request), now: now)
    }

    /// Returns the text that explains a refusal in the audit log; nil if the reason says it.
    private static func detail(
        of refusal: Refusal, because reason: AuditEvent.Reason, _ request: IncomingRequest
    ) -> String? {
        switch reason {
        case .foreignForm, .cookie: request.sender
        default: refusal.explanation.flatMap { $0 == reason.rawValue ? nil : $0 }
        }
    }

    /// The fields of the log line of a refused request.
    private static func metadata(of request: IncomingRequest, at endpoint: Endpoint?) -> Logger.Metadata {
        [
            "request": "\(request.id)", "endpoint": "\(endpoint.map { "\($0)" } ?? "none")",
            "source": "\(request.source)",
        ]
    }

    /// The level of the log line of a refused request.
    ///
    /// Strangers can cause these lines, so the limit of the audit log applies to those of the level of the operator. A
    /// program gets no page with a reference, so its lines have the level of every request.
    private static func level(of refusal: RequestRefusal.Entry, at endpoint: Endpoint?) -> Logger.Level {
        refusal.isRecorded && endpoint?.answersUsers != false ? .notice : .info
    }

    /// Counts a request and logs its response.
    ///
    /// The log omits the URL, because it may contain secrets.
    package func noteAnswer(
        to request: IncomingRequest, at endpoint: Endpoint?, status: HTTPResponse.Status, after duration: Duration
    ) {
        let seconds = duration / .seconds(1)
        metrics.countRequest(at: endpoint, status: status.code, seconds: seconds)
        var metadata: Logger.Metadata = [
            "method": "\(request.head.method.rawValue.prefix(16))",
            "endpoint": "\(endpoint.map { "\($0)" } ?? "none")", "status": "\(status.code)",
            "milliseconds": "\(Int(seconds * 1_000_000) / 1000)", "source": "\(request.source)",
            "request": "\(request.id)",
        ]
        if let trace = request.trace { metadata["trace"] = "\(trace)" }
        if let entry = request.refusal.entry { metadata.merge(entry.metadata) { own, _ in own } }
        // A load balancer asks several times a second.
        components.logger.serving(request.context).log(
            level: endpoint?.isHealth == true ? .debug : .info, "answered", metadata: metadata)
    }

    /// Adds the name and look of the service to a page; if the store is unavailable, the defaults are used.
    ///
    /// A page that already has a frame, such as the consent page or the branding preview, keeps that frame. The page of
    /// a refusal or fault gets the reference with which the operator finds it.
    private func framed(
        _ reply: Reply, for request: IncomingRequest, with components: ServerComponents, isFault: Bool = false
    ) async -> Reply {
        guard case .page(let page) = reply.content else { return reply }
        var reply = reply
        if reply.frame == nil {
            let branding = (try? await components.registry.fresh().branding()) ?? Branding()
            reply.frame = Frame(
                site: Site(branding, settings: components.settings, language: request.language),
                language: request.language)
        }
        let isError = reply.status.code >= 400 || (page as? ReturnPage)?.kind == .refused
        if isError, isFault || request.refusal.entry != nil { reply.frame?.reference = request.id }
        return reply
    }

    private func answer(
        _ request: IncomingRequest, at endpoint: Endpoint, as configuration: ServerConfiguration,
        with components: ServerComponents, client: inout RequestingClient, now: Date
    ) async throws -> EndpointHandler.Answer {
        guard let handler = configuration.handler(of: endpoint, with: components) else { throw NotFoundError() }
        try await followKeys(for: request, at: endpoint, logger: components.logger)
        return try await handler.answer(request, now, &client)
    }

    /// Reloads the signing keys if another process has added or deleted one, and notes the revision of the registry on
    /// the arrival of the request.
    ///
    /// While the store does not respond, an endpoint that issues or accepts tokens fails. All others continue: the key
    /// set and the metadata stay as they were. The health checks do not read the keys.
    private func followKeys(for request: IncomingRequest, at endpoint: Endpoint, logger: Logger) async throws {
        guard !endpoint.isHealth else { return }
        do {
            request.context.noteArrival(at: try await components.keys.follow(for: request.context, logger: logger))
            components.condition.noteAnswer(at: .now)
        } catch {
            if !endpoint.answersUsers, endpoint.methods.contains(.post) { throw error }
        }
    }
}
