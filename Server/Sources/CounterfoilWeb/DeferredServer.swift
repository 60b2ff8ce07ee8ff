@_spi(Counterfoil) import CounterfoilProtocol
package import CounterfoilServer
package import HTTPListener
package import Logging

/// The place of a server that begins to listen before it has opened its store.
///
/// Until ``open(_:logger:tracing:trustedProxies:)``, only the health checks are answered, and everything else gets 503.
package final class DeferredServer: Sendable {
    let settings: ServerSettings
    let responder: CurrentResponder
    private let opening = Mutex(false)
    private let stopping: Flag

    /// Creates the place of a server with these settings.
    package init(for settings: ServerSettings) {
        self.settings = settings
        let stopping = Flag()
        self.stopping = stopping
        responder = CurrentResponder(WaitingResponder(settings) { stopping.isSet.withLock { $0 } })
    }

    /// Lets a server answer all connections that are accepted from now on.
    ///
    /// - Parameters:
    ///   - server: The server.
    ///   - logger: The logger for errors.
    ///   - tracing: The tracing of requests; nil for none.
    ///   - trustedProxies: A function that returns the proxies whose forwarding fields are trusted.
    package func open(
        _ server: AuthorizationServer, logger: Logger, tracing: RequestTracing? = nil,
        trustedProxies: @escaping @Sendable () -> TrustedProxies
    ) throws {
        responder.replace(
            by: try AuthorizationServerResponder(
                server, logger: logger, tracing: tracing, trustedProxies: trustedProxies))
        opening.withLock { $0 = true }
    }

    /// Whether a server answers.
    package var isOpen: Bool { opening.withLock { $0 } }

    /// Has `/readyz` report from now on that the process stops, also on connections from before a server was open.
    package func beginStopping() { stopping.isSet.withLock { $0 = true } }

    /// A flag that the responder shares with the place.
    private final class Flag: Sendable {
        let isSet = Mutex(false)
    }
}
