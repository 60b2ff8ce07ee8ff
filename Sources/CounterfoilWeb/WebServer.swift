public import CounterfoilServer
public import Hummingbird
import HummingbirdCore
public import Logging
import NIOCore
import NIOPosix
public import ServiceLifecycle

/// The authorization server as a service that listens.
public enum WebServer {
    /// Connections that are open at a time; more wait to be accepted.
    private static let connectionLimit = 10_000

    /// Makes the service; `onListening` is called once with the port that it listens on, and `requests` counts those that it is
    /// answering.
    public static func service(
        _ server: AuthorizationServer,
        host: String,
        port: Int,
        trustedProxies: TrustedProxies = .none,
        requests: RequestsInProgress = RequestsInProgress(),
        logger: Logger,
        onListening: @escaping @Sendable (Int) async -> Void = { _ in }
    ) throws -> any Service {
        let responder = try AuthorizationServerResponder(server, logger: logger, trustedProxies: trustedProxies)
        return ConnectionChannel(responder: responder, requests: requests).server(
            configuration: ServerConfiguration(
                address: .hostname(host, port: port),
                availableConnectionsDelegate: MaximumAvailableConnections(connectionLimit)),
            onServerRunning: { channel in await onListening(channel.localAddress?.port ?? port) },
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
            logger: logger)
    }

    /// The metrics of a server as an application of their own, at `/metrics` of an address that only those should reach who watch
    /// the server.
    public static func metrics(
        of server: AuthorizationServer,
        host: String,
        port: Int,
        logger: Logger,
        onListening: @escaping @Sendable (Int) async -> Void = { _ in }
    ) -> Application<MetricsResponder> {
        Application(
            responder: MetricsResponder(server),
            server: .http1(
                configuration: .init(
                    additionalChannelHandlers: [SlowRequestHandler(head: .seconds(20), body: .seconds(15))],
                    idleTimeout: .seconds(30))),
            configuration: ApplicationConfiguration(address: .hostname(host, port: port), serverName: nil),
            onServerRunning: { channel in await onListening(channel.localAddress?.port ?? port) },
            logger: logger
        )
    }
}
