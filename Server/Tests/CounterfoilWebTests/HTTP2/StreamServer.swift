import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import ServiceLifecycle
import TestSupport

@testable import CounterfoilWeb

/// A server in this process that speaks TLS.
struct StreamServer: Sendable {
    static let host = "id.example.com"

    let port: Int
    let authority: TestAuthority
    let connections: OpenConnections
    private let services: ServiceGroup

    /// Runs `body` with a server, which stops afterwards.
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
        let authority = try TestAuthority()
        let issued = try authority.issue(for: [host])
        let certificate = try await ServerCertificate(
            chain: issued.certificate, key: issued.key, hosts: [host], at: Date())
        let logger = test.log.logger
        let connections = OpenConnections(settings: test.server.settings, hasCertificate: true, logger: logger)
        let place = ServerPlace(for: test.server.settings)
        if isOpen { try place.open(test.server, logger: logger) { connections.trustedProxies } }
        let (ports, listening) = AsyncStream.makeStream(of: Int.self)
        let service = WebServer.service(
            place, at: [.host("127.0.0.1", port: 0)], certificate: CurrentCertificate(certificate),
            connections: connections, stop: .standard, logger: logger
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
    func stop() async { await services.triggerGracefulShutdown() }
}
