@_spi(Counterfoil) import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import PostgreSQLTesting
import TestSupport

/// The kinds of stores on which a server runs.
enum StoreOfSite: CaseIterable {
    case dataDirectory
    case database

    /// Runs `body` with a site on a new store, on which no server runs yet.
    func make(_ body: (Site) async throws -> Void) async throws {
        switch self {
        case .dataDirectory: try await Site.make(body)
        case .database:
            let server = try await PostgreSQLServer.shared.value
            try await Self.make(in: server, body)
        }
    }

    /// Runs `body` with a site on a new database of a server, on which no authorization server runs yet.
    static func make(in server: PostgreSQLServer, _ body: (Site) async throws -> Void) async throws {
        let store = try await store(in: server)
        try await Site.make(on: store, body)
    }

    /// Creates a database with its tables.
    static func store(in server: PostgreSQLServer) async throws -> Site.Store {
        let name = "site_" + UUID().uuidString.filter(\.isHexDigit).lowercased()
        try server.sql("CREATE DATABASE \(name)")
        let uri = "postgresql://counterfoil@127.0.0.1:\(server.port.number)/\(name)"
        try await Site.make { site in
            let ended = try await site.server(["migrate", "--database", uri])
            guard ended.status == 0 else { throw Site.Refused(description: "migrate: \(ended.errors)") }
        }
        return .database(uri, serverKey: Base64URL.encode(RandomBytes().bytes(32)))
    }
}
