import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import HTTPListener
import HTTPListenerTesting

@testable import CounterfoilWeb

extension StreamServer {
    /// Runs `body` with an authorization server in this process.
    ///
    /// - Parameters:
    ///   - callbackOrigin: The origin of redirect URIs at this server; nil if there is none.
    ///   - isOpen: Whether the server has opened its store.
    ///   - body: A function that closes its connections.
    static func run(
        callbackOrigin: String? = nil, isOpen: Bool = true, _ body: (StreamServer) async throws -> Void
    ) async throws {
        let test = try await TestServer(issuer: "https://\(host)") { settings in
            settings.callbackOrigin = callbackOrigin.flatMap { try? CallbackOrigin($0, issuer: settings.issuer) }
        }
        let logger = test.log.logger
        let connections = OpenConnections(settings: test.server.settings, hasCertificate: true, logger: logger)
        let place = DeferredServer(for: test.server.settings)
        if isOpen { try place.open(test.server, logger: logger) { connections.trustedProxies } }
        try await run(answering: place.responder, connections: connections, logger: logger, body)
    }
}
