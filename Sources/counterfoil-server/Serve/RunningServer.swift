import CounterfoilConsole
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilWeb
import Foundation
import Hummingbird
import Logging
import NIOCore
import ServiceLifecycle
import UnixSignals

/// A server with all its components: data directory, keys, listeners and background services.
///
/// The initializer is the only place that connects the components.
struct RunningServer {
    /// The host and port on which the server listens for requests.
    let listen: ListenAddress
    /// The link that creates the first administrator; nil if an administrator exists.
    let setupLink: String?

    private let metrics: ListenAddress?
    private let redirects: ListenAddress?
    private let renewal: CertificateRenewal?
    private let settings: ServerSettings
    private let trustedProxies: TrustedProxies
    private let installation: Installation
    private let connections: OpenConnections
    /// The lock of the data directory; nil for a database, on which several servers can run.
    private let lock: ServingLock?
    private let server: AuthorizationServer
    private let log: LogFormat.Settings
    private let logger: Logger

    init(
        at place: InstallationOption.Place,
        settings: ServerSettings,
        listen: ListenAddress,
        metrics: ListenAddress? = nil,
        redirects: ListenAddress? = nil,
        certificate: CertificateFiles? = nil,
        trustedProxies: TrustedProxies = .none,
        connections: ConnectionLimits = .standard,
        outbound: OutboundRules = .standard,
        log: LogFormat.Settings = LogFormat.Settings()
    ) async throws {
        self.listen = listen
        self.metrics = metrics
        self.redirects = redirects
        self.settings = settings
        self.trustedProxies = trustedProxies
        let logger = log.logger
        let unsupported = UnsupportedValues(logger: logger)
        // A certificate that clients would refuse is an error before the data is touched.
        renewal = if let certificate { try await CertificateRenewal(certificate, logger: logger) } else { nil }
        switch place {
        case .directory(let path):
            let lock = try DataDirectory.lockForServing(path)
            let directory = try DataDirectory(at: path, lockedBy: lock, reporting: unsupported)
            self.lock = lock
            installation = directory.installation
            if let copy = directory.store.copyOfEarlierVersion {
                logger.notice("upgraded the database; its former state was copied", metadata: ["copy": "\(copy)"])
            }
        case .database(let database):
            lock = nil
            installation = try await database.open(reporting: unsupported)
        }

        self.log = log
        self.logger = logger
        self.connections = OpenConnections(
            limits: try Self.limits(connections, logger: logger), trustedProxies: trustedProxies, settings: settings,
            hasCertificate: renewal != nil, logger: logger)

        let keys: KeyRing
        do {
            keys = try await KeyRing.open(installation.store, serverKey: installation.serverKey)
        } catch let refusal as KeyRing.Refusal {
            throw CommandFailure.refused("\(refusal)")
        } catch let fault as StoreFault {
            throw CommandFailure(fault)
        }
        // The settings are those of a server that has the right key.
        do { try await installation.note(NotedSettings(settings)) } catch let fault as StoreFault {
            throw CommandFailure(fault)
        }
        server = AuthorizationServer(
            settings: settings,
            store: installation.store,
            serverKey: installation.serverKey,
            keys: keys,
            hasher: PasswordHasher(),
            pages: .console,
            // There are several outbound clients, so that DNS lookups for one purpose cannot delay those for another.
            associations: AssociationFileFetcher(OutboundClient(outbound)),
            clientFiles: OutboundClientFiles(outbound),
            logoutSender: LogoutNoticePost(OutboundClient(outbound)),
            logger: logger
        )
        if PublicSuffixList.system == nil {
            logger.warning(
                "failed to load libpsl, so the consent page sets off the whole host of a client",
                metadata: ["packages": "libpsl5 (Debian, Ubuntu), libpsl (Fedora, Homebrew)"])
        }
        // Several servers may start on a database, and the link that one of them shows must work at the others.
        do { setupLink = try await server.openSetup(keepingFor: lock == nil ? Self.setupAge : 0) } catch {
            throw CommandFailure(error)
        }
    }

    /// The time in seconds for which servers on one database show the same link for the first administrator.
    private static let setupAge: TimeInterval = 3600

    /// Serves requests until SIGTERM or SIGINT, and then closes the store.
    func run(onListening: @escaping @Sendable (Int) async -> Void) async throws {
        let application = try WebServer.service(
            server, host: listen.host, port: listen.port, certificate: renewal?.current,
            trustedProxies: trustedProxies, connections: connections, logger: logger,
            onListening: onListening)
        // The services end in the reverse order: the heartbeat last, after all requests are answered.
        var services: [any Service] = [
            Beating(heartbeat: server.heartbeat), application, Maintenance(maintenance: server.maintenance),
        ]
        if let notifier = server.logoutNotifier { services.append(LogoutNotifying(notifier: notifier)) }
        if let renewal { services.append(renewal) }
        if let redirects {
            services.append(
                WebServer.redirect(to: settings, host: redirects.host, port: redirects.port, logger: logger) { port in
                    let url = "http://\(redirects.host):\(port)"
                    log.report(
                        "started the redirect to https", metadata: ["url": "\(url)"],
                        sentence: "Requests at \(url) are redirected to https.")
                })
        }
        if let metrics {
            services.append(
                WebServer.metrics(
                    of: server, connections: connections, certificate: renewal?.current, host: metrics.host,
                    port: metrics.port, logger: logger
                ) { port in
                    let url = "http://\(metrics.host):\(port)/metrics"
                    log.report(
                        "started the metrics server", metadata: ["url": "\(url)"], sentence: "Metrics are at \(url).")
                })
        }
        let group = ServiceGroup(
            configuration: .init(services: services, gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
        let end: Result<Void, any Error>
        do { end = .success(try await group.run()) } catch { end = .failure(error) }
        // A request whose client has gone can end after its connection, and so after the heartbeat.
        await server.heartbeat.finish()
        await installation.store.close()
        do {
            try end.get()
        } catch let failure as IOError {
            throw CommandFailure.temporary(
                "cannot listen on \(addresses) (\(String(cString: strerror(failure.errnoCode)))); "
                    + Self.advice(for: failure.errnoCode))
        } catch is SocketAddressError.UnknownHost {
            throw CommandFailure.refused(
                "cannot listen on \(addresses): unknown host; choose an address of this machine with --listen")
        }
    }

    /// Lowers the wanted connection limits, if needed, to what the limit of open files of this process allows.
    private static func limits(_ wanted: ConnectionLimits, logger: Logger) throws -> ConnectionLimits {
        let reserved = ConnectionLimits.reservedDescriptors
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

    /// The addresses of the listeners for requests and metrics as text, for error messages.
    private var addresses: String {
        ([listen] + [metrics, redirects].compactMap { $0 }).map { "\($0.host):\($0.port)" }.joined(separator: " or ")
    }

    private static func advice(for reason: CInt) -> String {
        switch reason {
        case EACCES: "choose a port above 1023 with --listen, or grant this user access to the port"
        case EADDRNOTAVAIL: "choose an address of this machine with --listen"
        default: "stop the program that uses the port, or choose another one with --listen"
        }
    }
}

/// The service that deletes expired records and rotates signing keys.
private struct Maintenance: Service {
    let maintenance: MaintenanceService

    func run() async throws {
        await cancelWhenGracefulShutdown { await maintenance.run() }
    }
}

/// The service that regularly records that the store answers, so that outages can be detected.
private struct Beating: Service {
    let heartbeat: Heartbeat

    func run() async throws {
        await cancelWhenGracefulShutdown { await heartbeat.run() }
    }
}

private struct LogoutNotifying: Service {
    let notifier: LogoutNotifier

    func run() async throws {
        await cancelWhenGracefulShutdown { await notifier.run() }
    }
}
