import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilTokens
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
        "signing_keys": ["insert", "update", "delete"], "branding": ["insert", "update", "delete"],
        "site_statements": ["insert", "update", "delete"],
        // The policy is never deleted.
        "unregistered_client_policy": ["insert", "update"],
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

    @Test func `a file from before keys and branding were part of the registry renews with their changes`()
        async throws
    {
        let directory = try TemporaryDirectory()
        let path = directory.path("store.sqlite")
        let store = try SQLiteStore(at: path)
        let key = SealedSigningKey(id: KeyIdentifier("first"), algorithm: .es256, sealed: [1], createdAt: World.now)
        #expect(try await store.addFirstSigningKey(key) == .added)
        await store.close()

        let database = try DatabaseQueue(path: path)
        func revision() async throws -> Int64? {
            try await database.read { try Int64.fetchOne($0, sql: "SELECT revision FROM registry") }
        }
        try await database.write { database in
            for table in ["signing_keys", "branding", "site_statements"] {
                for change in ["insert", "update", "delete"] {
                    try database.execute(sql: "DROP TRIGGER \(table)_\(change)_renews")
                }
            }
            for index in ["clients_associated", "clients_idle_lifetime"] {
                try database.execute(sql: "DROP INDEX \(index)")
            }
        }
        let statements = [
            "UPDATE branding SET site_name = 'Photos'", "INSERT INTO site_statements VALUES ('en', 'Hello', NULL)",
            "UPDATE site_statements SET text = 'Hi'", "DELETE FROM site_statements",
            "UPDATE signing_keys SET replaced_at = 0", "DELETE FROM signing_keys",
        ]
        let former = try await revision()
        for statement in statements.prefix(4) { try await database.write { try $0.execute(sql: statement) } }
        #expect(try await revision() == former)
        try await database.write { try Migration.registryOfKeysAndBranding.apply($0) }
        var seen: Set<Int64?> = [former]
        for statement in statements {
            try await database.write { try $0.execute(sql: statement) }
            #expect(seen.insert(try await revision()).inserted, "\(statement)")
        }
        try database.close()
        let reopened = try SQLiteStore(at: path)
        #expect(try await reopened.associatedClients() == [])
        #expect(try await reopened.branding().siteName == "Photos")
        await reopened.close()
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
        await #expect(throws: StoreFault.self) { try await registry.scopes() }
        await store.close()
    }
}
