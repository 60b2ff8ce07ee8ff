import CounterfoilProtocol
public import CounterfoilServer
package import HTTPListener
public import Logging
import NIOCore
import NIOPosix
public import ServiceLifecycle

/// Creates the services that listen for requests.
public enum WebServer {
    /// Creates the service that listens for the HTTP requests of an authorization server.
    ///
    /// It speaks plain HTTP, for a reverse proxy. On a graceful shutdown, it stops accepting connections, and answers
    /// the requests that have begun.
    ///
    /// - Parameters:
    ///   - server: The server that responds.
    ///   - host: The address to listen on.
    ///   - port: The port to listen on; 0 for any free port.
    ///   - trustedProxies: The proxies whose forwarding fields name the client address: addresses and networks, such as
    ///     `10.0.0.0/8`.
    ///   - logger: The logger of the service.
    ///   - onListening: A function that is called once, with the port that the service listens on.
    /// - Throws: An error that names the defect of a trusted proxy.
    public static func service(
        _ server: AuthorizationServer,
        host: String,
        port: Int,
        trustedProxies: [String] = [],
        logger: Logger,
        onListening: @escaping @Sendable (Int) async -> Void = { _ in }
    ) throws -> any Service {
        let connections = OpenConnections(
            trustedProxies: try TrustedProxies(trustedProxies), settings: server.settings, logger: logger)
        let deferred = DeferredServer(for: server.settings)
        try deferred.open(server, logger: logger) { connections.trustedProxies }
        return service(
            deferred, at: [.host(host, port: port)], certificate: nil, connections: connections, stop: .standard,
            logger: logger
        ) { bound in
            if let port = bound.first?.port { await onListening(port) }
        }
    }

    /// Creates the service that listens for the requests of a server that can open its store later.
    package static func service(
        _ deferred: DeferredServer,
        at addresses: [ListeningAddress],
        certificate: CurrentCertificate?,
        connections: OpenConnections,
        stop: StopLimits,
        deadline: StopDeadline? = nil,
        logger: Logger,
        onListening: @escaping @Sendable ([BoundAddress]) async -> Void
    ) -> any Service {
        Listener(
            at: addresses, answering: deferred.responder, connections: connections, certificate: certificate,
            stop: stop, deadline: deadline, logger: logger, onListening: onListening)
    }

    /// Waits until each event loop that serves requests has answered once.
    package static func pingEventLoops() async {
        for loop in MultiThreadedEventLoopGroup.singleton.makeIterator() { try? await loop.submit {}.get() }
    }

    /// Creates the service that redirects plain HTTP to the https origins of a server, and answers the challenges of an
    /// authority.
    ///
    /// - Parameters:
    ///   - settings: The settings of the server, whose issuer is https.
    ///   - challenges: The challenges of the authority; nil for none.
    ///   - addresses: The addresses to listen at.
    ///   - stop: The limits of the graceful shutdown.
    ///   - deadline: The end of the stop that all listeners share; nil for none.
    ///   - logger: The logger of the service.
    ///   - onListening: A function that is called once, with the port of each address; nil for a Unix socket.
    package static func redirect(
        to settings: ServerSettings,
        answering challenges: PendingChallenges?,
        at addresses: [ListeningAddress],
        stop: StopLimits = .brief,
        deadline: StopDeadline? = nil,
        logger: Logger,
        onListening: @escaping @Sendable ([Int?]) async -> Void = { _ in }
    ) -> any Service {
        let connections = OpenConnections(
            limits: ConnectionLimits(total: ConnectionLimits.redirects), settings: settings, hasCertificate: true,
            logger: logger)
        return Listener(
            at: addresses, answering: CurrentResponder(SecureRedirectResponder(settings, answering: challenges)),
            connections: connections, stop: stop, deadline: deadline, logger: logger
        ) { bound in await onListening(bound.map(\.port)) }
    }

    /// Creates the service for the metrics of a server, at `/metrics` on a separate port.
    ///
    /// The service has no authentication, so only the monitoring system should be able to reach its port.
    ///
    /// - Parameters:
    ///   - server: The server with the metrics.
    ///   - host: The address to listen on.
    ///   - port: The port to listen on; 0 for any free port.
    ///   - logger: The logger of the service.
    ///   - onListening: A function that is called once, with the port that the service listens on.
    public static func metrics(
        of server: AuthorizationServer, host: String, port: Int, logger: Logger,
        onListening: @escaping @Sendable (Int) async -> Void = { _ in }
    ) -> any Service {
        metrics(of: server, MetricsSources(), at: .host(host, port: port), logger: logger) { port in
            if let port { await onListening(port) }
        }
    }

    /// Creates the service for the metrics of a server and of everything around it.
    package static func metrics(
        of server: AuthorizationServer, _ sources: MetricsSources, at address: ListeningAddress,
        deadline: StopDeadline? = nil, logger: Logger,
        onListening: @escaping @Sendable (Int?) async -> Void = { _ in }
    ) -> any Service {
        let connections = OpenConnections(
            limits: ConnectionLimits(total: ConnectionLimits.metrics), settings: server.settings, logger: logger)
        return Listener(
            at: [address], answering: CurrentResponder(MetricsResponder(server, sources)), connections: connections,
            stop: .brief, deadline: deadline, logger: logger
        ) { bound in await onListening(bound.first?.port) }
    }
}

extension OpenConnections {
    /// Creates an empty registry for a server.
    ///
    /// - Parameters:
    ///   - limits: The limits of connections.
    ///   - trustedProxies: The proxies to which the limits per source do not apply, because they forward the requests
    ///     of many clients.
    ///   - settings: The settings of the server. With an https issuer, a loopback address counts as a trusted proxy.
    ///   - hasCertificate: Whether the server speaks TLS itself. Then a loopback address is no proxy.
    ///   - logger: The logger for refused connections.
    package convenience init(
        limits: ConnectionLimits = .standard, trustedProxies: TrustedProxies = .none, settings: ServerSettings,
        hasCertificate: Bool = false, logger: Logger
    ) {
        self.init(
            limits: limits, trustedProxies: trustedProxies,
            trustsLoopback: settings.issuer.isSecure && !hasCertificate, logger: logger)
    }
}
