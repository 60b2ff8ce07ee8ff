import CounterfoilServer
import CounterfoilStore
import Foundation
import PostgreSQLDriver
import PostgreSQLTesting
import TestSupport
import Testing

@testable import CounterfoilPostgreSQL

@Suite("PostgreSQL: upgrades of the tables", .timeLimit(.minutes(2)))
struct SchemaVersionTests {
    private typealias Step = SchemaVersion.Step

    private static let addition = Step(
        statements: [Statement("ALTER TABLE people ADD COLUMN note text")], keepsEarlierPrograms: true)
    private static let removal = Step(
        statements: [Statement("ALTER TABLE people DROP COLUMN note")], keepsEarlierPrograms: false)

    /// A database of its own, with the tables of this version.
    private static func database() async throws -> (server: PostgreSQLServer, name: String) {
        let server = try await PostgreSQLServer.shared.value
        let name = "d_" + UUID().uuidString.filter(\.isHexDigit).lowercased()
        try server.sql("CREATE DATABASE \(name)")
        try await PostgreSQLStore.migrate(try server.uri(database: name))
        return (server, name)
    }

    private static func migrate(_ connection: Connection, to steps: [Step]) throws -> Int {
        try SchemaVersion.migrate("test", on: connection, by: .now + .seconds(60), steps: steps)
    }

    /// Upgrades on a thread of its own, because the tasks of other tests need theirs while it waits.
    private static func upgrade(_ uri: ConnectionString) async throws -> Int {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result {
                        let limits = SessionLimits(statement: .seconds(60), lock: .seconds(60))
                        let connection = try Connection.open(uri.uri, limits: limits).connection
                        return try migrate(connection, to: SchemaVersion.steps + [addition])
                    })
            }
        }
    }

    private static func check(_ connection: Connection, by steps: [Step]) throws {
        try SchemaVersion.check(
            try SchemaVersion.read(on: connection, by: .now + .seconds(60)), of: "test", by: steps)
    }

    @Test func `a former program can use new tables until something was taken away`() async throws {
        let (server, name) = try await Self.database()
        let connection = try Connection.open(server.uri(database: name).uri).connection
        let former = SchemaVersion.steps
        #expect(throws: OpeningRefusal.earlierTables(database: "test")) {
            try Self.check(connection, by: former + [Self.addition])
        }
        #expect(try Self.migrate(connection, to: former + [Self.addition]) == 1)
        try Self.check(connection, by: former + [Self.addition])
        try Self.check(connection, by: former)
        // The former program finds nothing to do, and takes nothing back.
        #expect(try Self.migrate(connection, to: former) == 0)
        #expect(try Self.migrate(connection, to: former + [Self.addition, Self.removal]) == 1)
        for earlier in [former, former + [Self.addition]] {
            #expect(throws: OpeningRefusal.laterTables(database: "test")) { try Self.check(connection, by: earlier) }
            #expect(throws: OpeningRefusal.laterTables(database: "test")) {
                _ = try Self.migrate(connection, to: earlier)
            }
        }
    }

    @Test func `tables from before the first release are refused`() async throws {
        let server = try await PostgreSQLServer.shared.value
        let name = "d_" + UUID().uuidString.filter(\.isHexDigit).lowercased()
        try server.sql("CREATE DATABASE \(name)")
        try server.sql(
            "CREATE TABLE counterfoil_schema (id bigint, number bigint, oldest_program bigint)",
            "INSERT INTO counterfoil_schema VALUES (1, 6, 1)", "CREATE TABLE people (number bigint)", database: name)
        let uri = try server.uri(database: name)
        let refusal = OpeningRefusal.unreleasedTables(database: "\(uri)")
        await #expect(throws: refusal) { try await PostgreSQLStore.check(uri) }
        await #expect(throws: refusal) { try await PostgreSQLStore.migrate(uri) }
        #expect(refusal.description.contains("begin again with an empty database"))
        #expect(try server.sql("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'", database: name) == ["2"])
    }

    @Test func `a program from before the last but one upgrade is refused, even if nothing was taken away`()
        async throws
    {
        let (server, name) = try await Self.database()
        let connection = try Connection.open(server.uri(database: name).uri).connection
        let second = Step(
            statements: [Statement("ALTER TABLE people ADD COLUMN other text")], keepsEarlierPrograms: true)
        let third = Step(
            statements: [Statement("ALTER TABLE people ADD COLUMN third text")], keepsEarlierPrograms: true)
        let former = SchemaVersion.steps
        let version = former + [Self.addition]
        // One upgrade can have several steps.
        let next = version + [second, third]
        #expect(try Self.migrate(connection, to: version) == 1)
        try Self.check(connection, by: former)
        #expect(try Self.migrate(connection, to: next) == 2)
        for program in [next, version + [second], version] { try Self.check(connection, by: program) }
        #expect(throws: OpeningRefusal.laterTables(database: "test")) { try Self.check(connection, by: former) }
        #expect(throws: OpeningRefusal.laterTables(database: "test")) {
            _ = try Self.migrate(connection, to: former)
        }
        // A migration with nothing to do changes nothing.
        #expect(try Self.migrate(connection, to: next) == 0)
        try Self.check(connection, by: version)
    }

    @Test func `an upgrade that waits for a table does not hold up the servers, and completes`() async throws {
        let (server, name) = try await Self.database()
        let uri = try server.uri(database: name)
        // Its transaction must not end by itself on a slow machine.
        let reader = try Connection.open(uri.uri, limits: SessionLimits(silence: .seconds(120))).connection
        func exchange(_ sql: String) throws { _ = try reader.exchange([Statement(sql)], by: .now + .seconds(30)) }
        // A long transaction, as of a backup.
        try exchange("BEGIN")
        try exchange("SELECT 1 FROM people")
        async let upgrade = Self.upgrade(uri)
        // It waits for its lock, gives up, and waits again: meanwhile the servers read, each time for a second at most.
        var processes: Set<String> = []
        for _ in 1...2 {
            let start = try await Waiting.until("an upgrade that waits for a lock") {
                try server.sql(
                    """
                    SELECT state_change::text FROM pg_stat_activity
                    WHERE datname = '\(name)' AND wait_event_type = 'Lock' AND query LIKE 'ALTER TABLE people%'
                    """
                ).first { !processes.contains($0) }
            }
            processes.insert(start)
            let threads = try await ConnectionThreads.open(uri.uri)
            let count = try await threads.read { transaction in
                try transaction.first("SELECT count(*) FROM people") { columns in try columns.integer() }
            }
            #expect(count == 0)
            await threads.close()
        }
        try exchange("COMMIT")
        #expect(try await upgrade == 1)
    }
}
