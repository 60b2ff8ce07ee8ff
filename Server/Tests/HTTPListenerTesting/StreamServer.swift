import Foundation
package import HTTPListener
package import Logging
import ServiceLifecycle
package import TestSupport

/// A listener in this process that speaks TLS.
package struct StreamServer: Sendable {
    package static let host = "id.example.com"

    package let port: Int
    package let authority: TestAuthority
    package let connections: OpenConnections
    private let services: ServiceGroup

    /// Runs `body` with a listener, which stops afterwards.
    ///
    /// - Parameters:
    ///   - responder: The responder of the requests.
    ///   - connections: The registry of the open connections.
    ///   - logger: The logger of the listener.
    ///   - body: A function that closes its connections.
    package static func run(
        answering responder: CurrentResponder, connections: OpenConnections, logger: Logger,
        _ body: (StreamServer) async throws -> Void
    ) async throws {
        let authority = try TestAuthority()
        let issued = try authority.issue(for: [host])
        let certificate = try await ServerCertificate(
            chain: issued.certificate, key: issued.key, hosts: [host], at: Date())
        let (ports, listening) = AsyncStream.makeStream(of: Int.self)
        let service = Listener(
            at: [.host("127.0.0.1", port: 0)], answering: responder, connections: connections,
            certificate: CurrentCertificate(certificate), stop: .standard, logger: logger
        ) { bound in listening.yield(bound.first?.port ?? 0) }
        let services = ServiceGroup(services: [service], logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask {
                defer { listening.finish() }
                try await services.run()
            }
            if let port = await ports.first(where: { _ in true }) {
                try await body(
                    StreamServer(port: port, authority: authority, connections: connections, services: services))
            }
            await services.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
    }

    /// Begins to stop.
    package func stop() async { await services.triggerGracefulShutdown() }
}
