public import CounterfoilServer
public import Hummingbird
import HummingbirdCore
public import Logging
import NIOCore

/// The authorization server as a Hummingbird application.
public enum WebServer {
    /// Makes the application; `onListening` is called once with the port that it listens on.
    public static func application(
        _ server: AuthorizationServer,
        host: String,
        port: Int,
        trustedProxies: TrustedProxies = .none,
        logger: Logger,
        onListening: @escaping @Sendable (Int) async -> Void = { _ in }
    ) throws -> Application<AuthorizationServerResponder> {
        let connections = HTTP1Channel.Configuration(
            additionalChannelHandlers: [SlowRequestHandler(head: .seconds(20), body: .seconds(15))],
            // Slow and silent connections cost a descriptor for so long and no more.
            idleTimeout: .seconds(30),
            httpDecoderConfiguration: .init(
                maxHeaderFieldSize: 64 * 1024, maxHeaderListSize: 96 * 1024, maxHeaderFieldCount: 200)
        )
        return Application(
            responder: try AuthorizationServerResponder(server, logger: logger, trustedProxies: trustedProxies),
            server: HTTPServerBuilder { responder in
                LoopBoundChannel(http: HTTP1Channel(responder: responder, configuration: connections))
            },
            configuration: ApplicationConfiguration(address: .hostname(host, port: port), serverName: nil),
            onServerRunning: { channel in await onListening(channel.localAddress?.port ?? port) },
            logger: logger
        )
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
