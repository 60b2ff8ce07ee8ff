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

    init(
        dataDirectory path: String,
        settings: ServerSettings,
        listen: ListenAddress,
        logLevel: Logger.Level = .notice
    ) async throws {
        self.listen = listen
        lock = try DataDirectory.lockForServing(path)
        directory = try DataDirectory(at: path)
        try directory.note(settings)

        var logger = Logger(label: "counterfoil", factory: { StreamLogHandler.standardError(label: $0) })
        logger.logLevel = logLevel
        self.logger = logger

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
            associations: AssociationFileFetcher(),
            logger: logger
        )
        do { setupLink = try await server.openSetup() } catch { throw CommandFailure(error) }
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
                    + Self.advice(for: failure.errnoCode))
        } catch is SocketAddressError.UnknownHost {
            await directory.store.close()
            throw CommandFailure.refused(
                "\(listen.host) is no address that can be listened on; choose one of this computer with --listen")
        }
        await directory.store.close()
    }

    private static func advice(for reason: CInt) -> String {
        switch reason {
        case EACCES: "choose a port above 1023 with --listen, or give this user the right to this one"
        case EADDRNOTAVAIL: "choose an address of this computer with --listen"
        default: "stop what uses it, or choose another address with --listen"
        }
    }
}
