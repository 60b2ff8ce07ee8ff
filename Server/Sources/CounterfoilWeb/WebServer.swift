public import CounterfoilServer
public import Logging
import NIOCore
import NIOPosix
public import ServiceLifecycle

/// Creates the services that listen for requests.
public enum WebServer {
    /// Creates the service that listens for the HTTP requests of an authorization server.
    ///
    /// - Parameters:
    ///   - server: The server that responds.
    ///   - host: The address to listen on.
    ///   - port: The port to listen on; 0 for any free port.
    ///   - certificate: The certificate for TLS (RFC 8446); nil for plain HTTP, as behind a reverse proxy.
    ///   - trustedProxies: The proxies whose forwarding fields name the client address; those of `connections` count
    ///     instead.
    ///   - connections: The registry of open connections; nil creates one with the standard limits.
    ///   - logger: The logger of the service.
    ///   - onListening: A function that is called once, with the port that the service listens on.
    public static func service(
        _ server: AuthorizationServer,
        host: String,
        port: Int,
        certificate: CurrentCertificate? = nil,
        trustedProxies: TrustedProxies = .none,
        connections: OpenConnections? = nil,
        logger: Logger,
        onListening: @escaping @Sendable (Int) async -> Void = { _ in }
    ) throws -> any Service {
        try service(
            server, at: [.host(host, port: port)], certificate: certificate, trustedProxies: trustedProxies,
            connections: connections, logger: logger
        ) { ports in
            for case let port? in ports { await onListening(port) }
        }
    }

    /// Creates the service that listens for the HTTP requests of an authorization server at several addresses.
    ///
    /// On a graceful shutdown, it stops accepting connections, and answers the requests that have begun.
    ///
    /// - Parameters:
    ///   - server: The server that responds.
    ///   - addresses: The addresses to listen at.
    ///   - certificate: The certificate for TLS (RFC 8446) at TCP ports; nil for plain HTTP, as behind a reverse proxy.
    ///   - trustedProxies: The proxies whose forwarding fields name the client address.
    ///   - connections: The registry of open connections; nil creates one with the standard limits.
    ///   - stop: The limits of the graceful shutdown.
    ///   - logger: The logger of the service.
    ///   - onListening: A function that is called once, with the port of each address; nil for a Unix socket.
    public static func service(
        _ server: AuthorizationServer,
        at addresses: [ListeningAddress],
        certificate: CurrentCertificate? = nil,
        trustedProxies: TrustedProxies = .none,
        connections: OpenConnections? = nil,
        stop: StopLimits = .standard,
        logger: Logger,
        onListening: @escaping @Sendable ([Int?]) async -> Void = { _ in }
    ) throws -> any Service {
        let connections =
            connections
            ?? OpenConnections(
                trustedProxies: trustedProxies, settings: server.settings, hasCertificate: certificate != nil,
                logger: logger)
        let place = ServerPlace(for: server.settings)
        try place.open(server, logger: logger) { connections.trustedProxies }
        return service(
            place, at: addresses, certificate: certificate, connections: connections, stop: stop, logger: logger
        ) { bound in await onListening(bound.map(\.port)) }
    }

    /// Creates the service that listens for the requests of a server that can open its store later.
    package static func service(
        _ place: ServerPlace,
        at addresses: [ListeningAddress],
        certificate: CurrentCertificate?,
        connections: OpenConnections,
        stop: StopLimits,
        deadline: StopDeadline? = nil,
        logger: Logger,
        onListening: @escaping @Sendable ([BoundAddress]) async -> Void
    ) -> any Service {
        Listener(
            addresses: addresses,
            child: ConnectionChannel(
                responder: place.responder, connections: connections, certificate: certificate),
            stop: stop, deadline: deadline, logger: logger, onListening: onListening)
    }

    /// Waits until each event loop that serves requests has answered once.
    package static func pingEventLoops() async {
        for loop in MultiThreadedEventLoopGroup.singleton.makeIterator() { try? await loop.submit {}.get() }
    }

    /// Creates the service that redirects plain HTTP to the https origins of a server.
    ///
    /// - Parameters:
    ///   - settings: The settings of the server, whose issuer is https.
    ///   - addresses: The addresses to listen at.
    ///   - logger: The logger of the service.
    ///   - onListening: A function that is called once, with the port of each address; nil for a Unix socket.
    public static func redirect(
        to settings: ServerSettings,
        at addresses: [ListeningAddress],
        logger: Logger,
        onListening: @escaping @Sendable ([Int?]) async -> Void = { _ in }
    ) -> any Service {
        redirect(to: settings, answering: nil, at: addresses, logger: logger, onListening: onListening)
    }

    /// Creates the same service, which also answers the challenges of an authority.
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
            addresses: addresses,
            child: ConnectionChannel(
                responder: CurrentResponder(SecureRedirectResponder(settings, answering: challenges)),
                connections: connections,
                certificate: nil),
            stop: stop, deadline: deadline, logger: logger
        ) { bound in await onListening(bound.map(\.port)) }
    }

    /// Creates the service for the metrics of a server, at `/metrics` on a separate port.
    ///
    /// The service has no authentication, so only the monitoring system should be able to reach its port.
    ///
    /// - Parameters:
    ///   - server: The server with the metrics.
    ///   - connections: The open connections of the server; nil leaves their metrics out.
    ///   - certificate: The certificate of the server; nil leaves its metrics out.
    ///   - address: The address to listen at.
    ///   - logger: The logger of the service.
    ///   - onListening: A function that is called once, with the port of the address; nil for a Unix socket.
    public static func metrics(
        of server: AuthorizationServer,
        connections: OpenConnections? = nil,
        certificate: CurrentCertificate? = nil,
        at address: ListeningAddress,
        logger: Logger,
        onListening: @escaping @Sendable (Int?) async -> Void = { _ in }
    ) -> any Service {
        metrics(
            of: server, MetricsSources(connections: connections, certificate: certificate), at: address,
            logger: logger, onListening: onListening)
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
            addresses: [address],
            child: ConnectionChannel(
                responder: CurrentResponder(MetricsResponder(server, sources)), connections: connections,
                certificate: nil),
            stop: .brief, deadline: deadline, logger: logger
        ) { bound in await onListening(bound.first?.port) }
    }
}
