import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import GRDB
import TestSupport
import Testing

@testable import CounterfoilSQLite

@Suite("SQLite: the revision of the registry")
struct RegistryTests {
    /// The tables of the registry, each with the statements after which its triggers renew the revision.
    private static let tables: [String: Set<String>] = [
        "clients": ["insert", "update", "delete"], "client_secrets": ["insert", "update", "delete"],
        "resources": ["insert", "update", "delete"], "scopes": ["insert", "update", "delete"],
        "scope_texts": ["insert", "update", "delete"],
        "signing_keys": ["insert", "update", "delete"], "branding": ["insert", "update", "delete"],
        "site_statements": ["insert", "update", "delete"],
        "unregistered_client_policy": ["insert", "update", "delete"],
    ]

    @Test func `every statement that changes the registry renews the revision`() async throws {
        let directory = try TemporaryDirectory()
        let store = try SQLiteStore(at: directory.path("store.sqlite"))
        let triggers = try await store.engine.pool.read { database in
            try Row.fetchAll(
                database,
                sql: "SELECT tbl_name, name FROM sqlite_master WHERE type = 'trigger' AND sql LIKE '%UPDATE registry%'"
            ).map { row in (table: row["tbl_name"] as String, name: row["name"] as String) }
        }
        var found: [String: Set<String>] = [:]
        for (table, name) in triggers {
            found[table, default: []].insert(String(name.dropFirst(table.count + 1).prefix { $0 != "_" }))
        }
        #expect(found == Self.tables)
        await store.close()
    }

    // A cache above the store must not take a constant for the revision.
    @Test func `a file without a revision is damaged`() async throws {
        let directory = try TemporaryDirectory()
        let store = try SQLiteStore(at: directory.path("store.sqlite"))
        try await store.engine.pool.write { try $0.execute(sql: "DELETE FROM registry") }
        await #expect(throws: StoreFault.damaged("the table registry has no row")) {
            try await store.registryRevision()
        }
        let registry = CachedRegistry(store)
        await #expect(throws: StoreFault.self) { try await registry.fresh().scopes() }
        await store.close()
    }
}
