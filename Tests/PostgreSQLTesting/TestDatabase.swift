package import CounterfoilPostgreSQL
import CounterfoilProtocol
import Foundation
import TestSupport

/// A database with the tables of a store, for one test.
package enum TestDatabase {
    /// A server for these databases, whose log is not needed.
    private static let server = Task {
        let server = try await PostgreSQLServer.start(
            "log_statement=none", "max_connections=200", "autovacuum=off", "synchronous_commit=off")
        try server.sql("CREATE DATABASE \(template)")
        try await PostgreSQLStore.migrate(try server.uri(database: template))
        return server
    }
    private static let template = "empty_store"
    /// The limit on tests that have a database, each with several connections.
    private static let places = Turnstile(places: 4)

    /// Runs a test with the connection string of a new database.
    package static func with(_ test: (ConnectionString) async throws -> Void) async throws {
        try await places.pass {
            let server = try await server.value
            let name = "store_" + UUID().uuidString.filter(\.isHexDigit).lowercased()
            try server.sql("CREATE DATABASE \(name) TEMPLATE \(template)")
            let string = try server.uri(database: name)
            let result: Result<Void, any Error>
            do { result = .success(try await test(string)) } catch { result = .failure(error) }
            try server.sql("DROP DATABASE \(name) WITH (FORCE)")
            try result.get()
        }
    }
}
