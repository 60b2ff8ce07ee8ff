import ACMEClient
import CounterfoilProtocol
import CounterfoilSQL
import CounterfoilServer
import CounterfoilWeb
import Foundation
import HTTPListener
import Logging
import ServiceLifecycle
import UnixSignals

/// A server with all its components: data directory, keys, listeners and background services.
///
/// The initializer is the only place that connects the components.
struct RunningServer {
    private let listeners: ListenOptions.Listeners
    private let metrics: HostAndPort?
    private let renewal: CertificateRenewal?
    /// The certificate that is ordered from an authority; nil if none is ordered.
    ///
    /// The listener has its place before the store with the orders is open.
    private let ordered: OrderedCertificate?
    /// The certificate of the listeners, from files or ordered from an authority; nil without TLS.
    private let certificate: CurrentCertificate?
    /// The signals SIGHUP since this value was created; nil if one ends the process.
    private let hangUps: UnixSignalsSequence?
    private let reload: SettingsReload?
    private let words: SettingMessageRenderer
    private let settings: ServerSettings
    /// The opening of the store, now or later.
    private let opening: ServerOpening
    private let connections: OpenConnections
    /// The number of file descriptors for other uses than the connections of requests.
    private let reservedDescriptors: Int
    /// The server with its store; missing while its database does not answer.
    private let opened: LaterValue<OpenedServer>
    /// The traces of the requests; nil if none are sent.
    private let traces: TraceExport?
    private let log: LogFormat.LoggerSettings
    private let logger: Logger

    /// Opens the store; a database that does not answer is opened later, while the server runs.
    init(
        at storeLocation: InstallationOption.StoreLocation,
        settings: ServerSettings,
        listeners: ListenOptions.Listeners,
        metrics: HostAndPort? = nil,
        certificate: CertificateFiles? = nil,
        acme: ACMESettings? = nil,
        trustedProxies: TrustedProxies = .none,
        connections: ConnectionLimits = .standard,
        outbound: OutboundRules = .standard,
        mail: MailPost? = nil,
        log: LogFormat.LoggerSettings = LogFormat.LoggerSettings(),
        files: RecordedSettings.Files = [:],
        traces: TraceExport? = nil,
        reload: SettingsReload? = nil
    ) async throws {
        self.traces = traces
        self.listeners = listeners
        self.metrics = metrics
        self.settings = settings
        let logger = log.logger
        self.reload = reload
        hangUps =
            if reload != nil || certificate != nil { await UnixSignalsSequence(trapping: .sighup) } else { nil }
        self.log = log
        self.logger = logger
        // A certificate that clients would refuse is an error before the data is touched.
        let words: SettingMessageRenderer = if let reload { reload.words } else { { $0.ofOptions } }
        self.words = words
        renewal =
            if let certificate {
                try await CertificateRenewal(certificate, words: words, logger: logger)
            } else { nil }
        ordered = acme.map { _ in OrderedCertificate() }
        self.certificate = renewal?.current ?? ordered?.current
        reservedDescriptors = ConnectionLimits.reservedDescriptors(
            redirects: listeners.redirects != nil, metrics: metrics != nil)
        self.connections = OpenConnections(
            limits: try Self.limits(connections, reserving: reservedDescriptors, logger: logger),
            trustedProxies: trustedProxies, settings: settings,
            hasCertificate: self.certificate != nil, logger: logger)
        opening = ServerOpening(
            storeLocation: storeLocation, settings: settings,
            recorded: SharedValue(
                RecordedSettings(settings, connections: connections.total, sendsMail: mail != nil, files: files)),
            acme: acme, ordered: ordered, certificate: self.certificate, reload: reload, outbound: outbound, mail: mail,
            journalName: words("\(Settings.endingsJournal)"), logger: logger)
        do {
            opened = LaterValue(try await OpenedServer(opening))
        } catch let failure as CommandFailure {
            guard failure.isTemporary, case .database = storeLocation else { throw failure }
            logger.error("starting without the database", metadata: ["error": "\(failure.message)"])
            opened = LaterValue()
        }
        if self.certificate?.isProvisional == true {
            logger.notice("there is no certificate yet; clients get one that is signed by itself, and refuse it")
        }
        let plainHTTP = PlainHTTPWarning(
            settings.issuer, hasCertificate: self.certificate != nil, trustedProxies: trustedProxies,
            listeners: listeners.requests)
        if let plainHTTP {
            logger.warning(
                "\(plainHTTP.message)",
                metadata: ["listen": "\(plainHTTP.listen)", "advice": "\(plainHTTP.advice)"])
        }
    }

    /// Serves requests until SIGTERM or SIGINT, and then closes the store.
    ///
    /// - Parameter onStarted: A function that is called once, when the server listens and its store is open.
    func run(onStarted: @escaping @Sendable (OpenedServer, [BoundAddress]) async -> Void) async throws {
        let group = ServiceGroup(
            configuration: .init(
                services: try await services(onStarted), gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
        let watchdog = Watchdog(manager: listeners.manager)
        let end = await withTaskGroup(of: Void.self) { tasks -> Result<Void, any Error> in
            tasks.addTask { await watchdog.run() }
            defer { tasks.cancelAll() }
            do { return .success(try await group.run()) } catch { return .failure(error) }
        }
        if let server = opened.current {
            // A request whose client has gone can end after its connection, and so after the heartbeat.
            await server.server.heartbeat.finish()
            await server.endings?.finish()
            await server.installation.store.close()
        }
        try end.get()
    }

    /// The services end in the reverse order: the heartbeat last, after all requests are answered.
    private func services(
        _ onStarted: @escaping @Sendable (OpenedServer, [BoundAddress]) async -> Void
    ) async throws -> [any Service] {
        let (opened, connections, logger, log, words) = (opened, connections, logger, log, words)
        let (manager, certificate) = (listeners.manager, certificate)
        let (deadline, stop, delay) = (StopDeadline(), listeners.stop, listeners.delay)
        let deferred = DeferredServer(for: settings)
        let bound = LaterValue<[BoundAddress]>()
        // The first connection is answered by the server already.
        if let server = opened.current?.server {
            try deferred.open(server, logger: logger, tracing: traces?.requests) { connections.trustedProxies }
        }
        var services: [any Service] = [
            DeferredService(opened) { opened in
                await cancelWhenGracefulShutdown { await opened.server.heartbeat.run() }
            },
            // They can wait for the store, and no request waits for them.
            DeferredService(opened) { opened in
                guard let orders = opened.orders else { return try await gracefulShutdown() }
                try await orders.run()
            },
            SettingListener(
                setting: "\(Settings.listen)", words: words,
                service: WebServer.service(
                    deferred, at: listeners.requests, certificate: certificate, connections: connections,
                    stop: stop, deadline: deadline, logger: logger
                ) { bound.set($0) }),
            DeferredService(opened) { opened in
                await cancelWhenGracefulShutdown { await opened.server.maintenance.run() }
            },
            DeferredService(opened) { opened in
                guard let notifier = opened.server.logoutNotifier else { return try await gracefulShutdown() }
                await cancelWhenGracefulShutdown { await notifier.run() }
            },
            DeferredService(opened) { opened in
                guard let mails = opened.server.mailDelivery else { return try await gracefulShutdown() }
                await cancelWhenGracefulShutdown { await mails.run() }
            },
            DeferredService(opened) { opened in
                guard let webhooks = opened.server.webhookNotifier else { return try await gracefulShutdown() }
                await cancelWhenGracefulShutdown { await webhooks.run() }
            },
            DeferredService(opened) { opened in
                guard let endings = opened.endings else { return try await gracefulShutdown() }
                try await endings.run()
            },
            DeferredService(opened) { opened in
                guard let comparison = opened.comparison else { return try await gracefulShutdown() }
                try await comparison.run()
            },
        ]
        // The first of the services ends last, after the last request.
        if let traces { services.insert(traces.service(until: deadline), at: 0) }
        if let renewal { services.append(renewal) }
        if let hangUps {
            services.append(
                HangUpService(
                    signals: hangUps, reload: reload, renewal: renewal, manager: manager, logger: logger,
                    parts: liveParts, opening: { await opened.wait() != nil }))
        }
        if let redirects = listeners.redirects {
            let service = WebServer.redirect(
                to: settings, answering: ordered?.challenges, at: [redirects], deadline: deadline, logger: logger
            ) { ports in
                let url = "http://\(redirects.text(withPort: ports.first ?? nil))"
                log.report(
                    "started the redirect to https", metadata: ["url": "\(url)"],
                    sentence: "Requests at \(url) are redirected to https.")
            }
            services.append(
                SettingListener(
                    setting: "\(Settings.redirectListen)", words: words, service: service))
        }
        if let metrics {
            let sources = metricsSources
            services.append(
                DeferredService(opened) { opened in
                    let address = ListeningAddress.host(metrics.host, port: metrics.port)
                    let service = WebServer.metrics(
                        of: opened.server, sources(opened), at: address, deadline: deadline, logger: logger
                    ) { port in
                        let url = "http://\(address.text(withPort: port))/metrics"
                        log.report(
                            "started the metrics server", metadata: ["url": "\(url)"],
                            sentence: "Metrics are at \(url).")
                    }
                    try await SettingListener(
                        setting: "\(Settings.metricsListen)", words: words, service: service
                    ).run()
                })
        }
        let opening = opening
        services.append(
            StartupService(
                deferred: deferred, bound: bound, opened: opened, connections: connections, manager: manager,
                tracing: traces?.requests, logger: logger,
                open: { try await OpenedServer(opening) }, note: { try await $0.note(opening.recorded.value) },
                onStarted: onStarted))
        services.append(
            await ShutdownService(
                after: delay, ifReady: { deferred.isOpen }, end: { deadline.set(.now + stop.patience) }
            ) { delay in
                deadline.set(.now + delay + stop.patience)
                manager.stopping("Answering the last requests")
                deferred.beginStopping()
                opened.current?.server.beginStopping()
                connections.beginDraining()
            })
        return services
    }

    /// Returns the parts of the server that other settings change while it runs; nil while its store is not open.
    private var liveParts: @Sendable () -> LiveParts? {
        let (opened, connections, renewal, level, logger) = (opened, connections, renewal, log.level, logger)
        let (recorded, reserved) = (opening.recorded, reservedDescriptors)
        return {
            opened.current.map { opened in
                LiveParts(
                    server: opened.server, connections: connections, reservedDescriptors: reserved, renewal: renewal,
                    log: level, recorded: recorded, note: opened.installation.note, comparison: opened.comparison,
                    logger: logger)
            }
        }
    }

    /// Returns the sources of the metrics besides the counters of the server.
    private var metricsSources: @Sendable (OpenedServer) -> MetricsSources {
        let (connections, certificate, storeLocation, traces) = (
            connections, certificate, opening.storeLocation, traces
        )
        let (recorded, orders) = (opening.recorded, ordered?.failures)
        return { opened in
            var sources = MetricsSources(connections: connections, certificate: certificate)
            sources.orders = orders
            if let traces { sources.droppedSpans = { traces.droppedSpans } }
            if let endings = opened.endings { sources.endingsJournal = { endings.measurements } }
            if opened.endings != nil { sources.endingsJournalPath = recorded.value.endingsJournal }
            let store = opened.installation.store
            sources.storeSpace = { try? await store.space() }
            if let comparison = opened.comparison { sources.differingSettings = { comparison.count } }
            let database = opened.installation.store.database
            sources.store = { database.measurements }
            if case .directory(let directory) = storeLocation {
                sources.dataDirectory = directory
                sources.lastBackup = { LastBackup.time(in: directory) }
            }
            return sources
        }
    }

    /// Lowers the wanted connection limits, if needed, to what the limit of open files of this process allows.
    static func limits(
        _ wanted: ConnectionLimits, reserving reserved: Int, logger: Logger
    ) throws -> ConnectionLimits {
        guard let descriptors = DescriptorLimit.raise(to: wanted.total + reserved) else { return wanted }
        let possible = descriptors - reserved
        if possible >= wanted.total { return wanted }
        guard possible >= ConnectionLimits.minimum else {
            throw CommandFailure.refused(
                "the limit of open files is \(descriptors), but at least \(reserved + ConnectionLimits.minimum) are "
                    + "needed; raise it with ulimit -n, or with LimitNOFILE= in the systemd unit")
        }
        logger.warning(
            "lowered the connection limit because of the limit of open files",
            metadata: ["connections": "\(possible)", "wanted": "\(wanted.total)", "open-files": "\(descriptors)"])
        return ConnectionLimits(total: possible)
    }
}
