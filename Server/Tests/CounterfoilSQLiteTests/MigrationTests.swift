import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import GRDB
import TestSupport
import Testing

@testable import CounterfoilSQLite

@Suite("SQLite: migrations")
struct MigrationTests {
    /// Creates a store with one user, and opens its file without the store.
    private static func withFile(_ test: (_ path: String, DatabaseQueue) async throws -> Void) async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("store.sqlite")
        let store = try SQLiteStore(at: path)
        _ = try await World(in: store)
        await store.close()
        let database = try DatabaseQueue(path: path)
        try await test(path, database)
        try database.close()
    }

    private static func version(of database: DatabaseQueue) async throws -> Int? {
        try await database.read { database in try Int.fetchOne(database, sql: "PRAGMA user_version") }
    }

    @Test func `a migration runs the missing steps in their order`() async throws {
        try await Self.withFile { path, database in
            let current = Migration.all.count
            let steps =
                Migration.all + [
                    Migration { try $0.execute(sql: "CREATE TABLE notes (text TEXT NOT NULL) STRICT") },
                    Migration { try $0.execute(sql: "INSERT INTO notes SELECT username FROM people") },
                ]
            for _ in 1...2 {
                try await database.writeWithoutTransaction { try Migration.run($0, through: steps) }
                let notes = try await database.read { try String.fetchAll($0, sql: "SELECT text FROM notes") }
                #expect(notes.count == 1)
                #expect(try await Self.version(of: database) == current + 2)
            }
            let enforced = try await database.read { try Bool.fetchOne($0, sql: "PRAGMA foreign_keys") }
            #expect(enforced == true)
            #expect(throws: SQLiteStore.OpeningRefusal.newerVersion(path: path, found: current + 2, supported: current))
            {
                try SQLiteStore(at: path)
            }
        }
    }

    @Test func `a failed step leaves the file at its version`() async throws {
        try await Self.withFile { path, database in
            let steps =
                Migration.all + [
                    Migration { try $0.execute(sql: "CREATE TABLE notes (text TEXT NOT NULL) STRICT") },
                    Migration { try $0.execute(sql: "INSERT INTO notes VALUES (NULL)") },
                ]
            await #expect(throws: DatabaseError.self) {
                try await database.writeWithoutTransaction { try Migration.run($0, through: steps) }
            }
            let tables = try await database.read { try $0.tableExists("notes") }
            #expect(!tables)
            #expect(try await Self.version(of: database) == Migration.all.count)
            let store = try SQLiteStore(at: path)
            #expect(try await store.scopes().count == ScopeDefinition.standard.count)
            await store.close()
        }
    }

    @Test func `a step that breaks a reference is rolled back, and its error holds no values`() async throws {
        try await Self.withFile { _, database in
            let steps = Migration.all + [Migration { try $0.execute(sql: "DELETE FROM people") }]
            let error = await #expect(throws: DatabaseError.self) {
                try await database.writeWithoutTransaction { try Migration.run($0, through: steps) }
            }
            let refusal = SQLiteStore.OpeningRefusal(try #require(error), path: "store.sqlite")
            guard case .damaged(_, let reason) = refusal else { throw refusal }
            #expect(reason.contains("people"))
            #expect(!["per_", "app_", "http", "alice"].contains { reason.contains($0) }, "\(reason)")
            let users = try await database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM people") }
            #expect(users == 1)
            #expect(try await Self.version(of: database) == Migration.all.count)
        }
    }
}
