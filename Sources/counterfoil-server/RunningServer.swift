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

/// A server put together: the one function that wires everything.
struct RunningServer {
    /// Where it listens.
    let listen: ListenAddress
    /// The link that makes the administrator; nil when there is one.
    let setupLink: String?

    private let metrics: ListenAddress?
    private let trustedProxies: TrustedProxies
    private let directory: DataDirectory
    private let requests: RequestsInProgress
    private let connections: OpenConnections
    private let lock: ServingLock
    private let server: AuthorizationServer
    private let logger: Logger

    init(
        dataDirectory path: String,
        settings: ServerSettings,
        listen: ListenAddress,
        metrics: ListenAddress? = nil,
        trustedProxies: TrustedProxies = .none,
        connections: ConnectionLimits = .standard,
        outbound: OutboundRules = .standard,
        log: LogFormat.Settings = LogFormat.Settings()
    ) async throws {
        FreedMemory.keep()
        self.listen = listen
        self.metrics = metrics
        self.trustedProxies = trustedProxies
        lock = try DataDirectory.lockForServing(path)
        let requests = RequestsInProgress()
        self.requests = requests
        directory = try DataDirectory(at: path, lockedBy: lock, isCallerAlone: { requests.comeOneByOne })
        try directory.note(settings)

        let logger = log.logger
        self.logger = logger
        self.connections = OpenConnections(
            limits: try Self.limits(connections, logger: logger), trustedProxies: trustedProxies, settings: settings,
            logger: logger)

        let keys: KeyRing
        do {
            keys = try await KeyRing.open(directory.store, serverKey: directory.serverKey)
        } catch let refusal as KeyRing.Refusal {
            throw CommandFailure.refused("\(refusal)")
        } catch let fault as StoreFault {
            throw CommandFailure(fault)
        }
        server = AuthorizationServer(
            settings: settings,
            store: directory.store,
            serverKey: directory.serverKey,
            keys: keys,
            hasher: PasswordHasher(),
            pages: .console,
            associations: AssociationFileFetcher(outbound),
            logoutSender: LogoutNoticePost(outbound),
            logger: logger
        )
        do { setupLink = try await server.openSetup() } catch { throw CommandFailure(error) }
    }

    /// Serves until a signal ends it.
    func run(onListening: @escaping @Sendable (Int) async -> Void) async throws {
        let application = try WebServer.service(
            server, host: listen.host, port: listen.port, trustedProxies: trustedProxies,
            connections: connections, requests: requests, logger: logger,
            onListening: onListening)
        var services: [any Service] = [
            application, Housekeeping(housekeeper: server.housekeeper), Beating(heartbeat: server.heartbeat),
        ]
        if let notifier = server.logoutNotifier { services.append(LogoutNotifying(notifier: notifier)) }
        if let metrics {
            services.append(
                WebServer.metrics(
                    of: server, connections: connections, host: metrics.host, port: metrics.port, logger: logger
                ) { port in
                    Output.note("Metrics are at http://\(metrics.host):\(port)/metrics.")
                })
        }
        let group = ServiceGroup(
            configuration: .init(services: services, gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
        do {
            try await group.run()
        } catch let failure as IOError {
            await directory.store.close()
            throw CommandFailure.mayPass(
                "\(addresses) cannot be listened on (\(String(cString: strerror(failure.errnoCode)))); "
                    + Self.advice(for: failure.errnoCode))
        } catch is SocketAddressError.UnknownHost {
            await directory.store.close()
            throw CommandFailure.refused(
                "\(addresses) is no address that can be listened on; choose one of this computer with --listen")
        }
        await directory.store.close()
    }

    /// The limits that the descriptors of this process allow.
    private static func limits(_ wanted: ConnectionLimits, logger: Logger) throws -> ConnectionLimits {
        let reserved = ConnectionLimits.reservedDescriptors
        guard let descriptors = DescriptorLimit.raise(to: wanted.total + reserved) else { return wanted }
        let possible = descriptors - reserved
        if possible >= wanted.total { return wanted }
        guard possible >= ConnectionLimits.minimum else {
            throw CommandFailure.refused(
                "this process may open \(descriptors) files, and needs \(reserved + ConnectionLimits.minimum) at least; "
                    + "raise the limit with ulimit -n, or with LimitNOFILE= of a service of systemd")
        }
        logger.warning(
            "lowered the connection limit to what the limit of open files allows",
            metadata: ["connections": "\(possible)", "wanted": "\(wanted.total)", "open-files": "\(descriptors)"])
        return ConnectionLimits(total: possible)
    }

    /// What was to be listened on.
    private var addresses: String {
        ([listen] + (metrics.map { [$0] } ?? [])).map { "\($0.host):\($0.port)" }.joined(separator: " or ")
    }

    private static func advice(for reason: CInt) -> String {
        switch reason {
        case EACCES: "choose a port above 1023 with --listen, or give this user the right to this one"
        case EADDRNOTAVAIL: "choose an address of this computer with --listen"
        default: "stop what uses it, or choose another address with --listen"
        }
    }
}

/// Housekeeping as long as the server runs.
private struct Housekeeping: Service {
    let housekeeper: Housekeeper

    func run() async throws {
        await cancelWhenGracefulShutdown { await housekeeper.run() }
    }
}

/// The heartbeat, for as long as the server runs.
private struct Beating: Service {
    let heartbeat: Heartbeat

    func run() async throws {
        await cancelWhenGracefulShutdown { await heartbeat.run() }
    }
}

/// Telling applications of sign-outs as long as the server runs.
private struct LogoutNotifying: Service {
    let notifier: LogoutNotifier

    func run() async throws {
        await cancelWhenGracefulShutdown { await notifier.run() }
    }
}
