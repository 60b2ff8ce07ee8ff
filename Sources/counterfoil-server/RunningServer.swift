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

    private let directory: DataDirectory
    private let lock: ServingLock
    private let server: AuthorizationServer
    private let logger: Logger

    init(directory: DataDirectory, settings: ServerSettings, listen: ListenAddress) async throws {
        self.directory = directory
        self.listen = listen
        lock = try directory.lockForServing()
        try directory.note(settings.issuer)

        var logger = Logger(label: "counterfoil", factory: { StreamLogHandler.standardError(label: $0) })
        logger.logLevel = .notice
        self.logger = logger

        let keys: KeyRing
        do {
            keys = try await KeyRing.open(directory.store, serverKey: directory.serverKey)
        } catch let refusal as KeyRing.Refusal {
            throw CommandFailure.refused("\(refusal)")
        }
        server = AuthorizationServer(
            settings: settings,
            store: directory.store,
            serverKey: directory.serverKey,
            keys: keys,
            hasher: PasswordHasher(),
            logger: logger
        )
        setupLink = try await server.openSetup()
    }

    /// Serves until a signal ends it.
    func run(onListening: @escaping @Sendable (Int) async -> Void) async throws {
        let application = try WebServer.application(
            server, host: listen.host, port: listen.port, logger: logger, onListening: onListening)
        let services = ServiceGroup(
            configuration: .init(
                services: [application], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        )
        do {
            try await services.run()
        } catch let failure as IOError {
            await directory.store.close()
            throw CommandFailure.mayPass(
                "\(listen.host):\(listen.port) cannot be listened on (\(String(cString: strerror(failure.errnoCode)))); "
                    + "stop what uses it, or choose another address with --listen")
        }
        await directory.store.close()
    }
}
