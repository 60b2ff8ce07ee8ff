public import CounterfoilServer
public import Hummingbird
public import Logging
import NIOCore
import NIOPosix
public import ServiceLifecycle

/// The authorization server as a service that listens.
public enum WebServer {
    /// The service.
    ///
    /// - Parameters:
    ///   - server: The server that answers.
    ///   - host: The address to listen on.
    ///   - port: The port to listen on; 0 for any that is free.
    ///   - trustedProxies: The proxies whose forwarding header names the client.
    ///   - connections: Counts the connections, and ends or refuses those above its limits; by the standard limits unless given.
    ///   - requests: Counts the requests that are being answered.
    ///   - logger: Where the service logs.
    ///   - onListening: Called once, with the port that it listens on.
    public static func service(
        _ server: AuthorizationServer,
        host: String,
        port: Int,
        trustedProxies: TrustedProxies = .none,
        connections: OpenConnections? = nil,
        requests: RequestsInProgress = RequestsInProgress(),
        logger: Logger,
        onListening: @escaping @Sendable (Int) async -> Void = { _ in }
    ) throws -> any Service {
        let responder = try AuthorizationServerResponder(server, logger: logger, trustedProxies: trustedProxies)
        let connections =
            connections ?? OpenConnections(trustedProxies: trustedProxies, settings: server.settings, logger: logger)
        return Listener(
            host: host, port: port,
            child: ConnectionChannel(responder: responder, requests: requests, connections: connections),
            logger: logger, onListening: onListening)
    }

    /// Connections to the metrics that may be open at once.
    private static let metricsConnectionLimit = 16

    /// The metrics of a server as an application of their own, at `/metrics` of an address that only those should reach who watch
    /// the server.
    public static func metrics(
        of server: AuthorizationServer,
        connections: OpenConnections? = nil,
        host: String,
        port: Int,
        logger: Logger,
        onListening: @escaping @Sendable (Int) async -> Void = { _ in }
    ) -> Application<MetricsResponder> {
        Application(
            responder: MetricsResponder(server, connections: connections),
            server: .http1(
                configuration: .init(
                    additionalChannelHandlers: [SlowRequestHandler(head: .seconds(20), body: .seconds(15))],
                    idleTimeout: .seconds(30))),
            configuration: ApplicationConfiguration(
                address: .hostname(host, port: port), serverName: nil,
                availableConnectionsDelegate: .maximum(metricsConnectionLimit, logger: logger)),
            onServerRunning: { channel in await onListening(channel.localAddress?.port ?? port) },
            logger: logger
        )
    }
}
