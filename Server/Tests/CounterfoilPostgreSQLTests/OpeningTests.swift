import CounterfoilStore
import Foundation
import PostgreSQLDriver
import PostgreSQLTesting
import TestSupport
import Testing

@testable import CounterfoilPostgreSQL

@Suite("PostgreSQL: opening", .timeLimit(.minutes(2)))
struct OpeningTests {
    @Test func `a server that does not answer is refused with the database and the reason of libpq`() async throws {
        let port = try ReservedPort()
        let string = try ConnectionString("postgresql://me@127.0.0.1:\(port.number)/x")
        let refusal = try await #require(throws: OpeningRefusal.self) { try await PostgreSQLStore.check(string) }
        #expect("\(refusal)".hasPrefix("no connection to the database x at 127.0.0.1:\(port.number) ("))
        #expect("\(refusal)".contains("Connection refused"))
        // The remedy is all that follows the first semicolon.
        let remedy = "\(refusal)".split(separator: "; ", maxSplits: 1).last
        #expect(remedy == ConnectionObstacle.noListener.remedy[...])
    }

    @Test func `a wrong user is refused with what to do, and not as a server that does not answer`() async throws {
        let uri = try await PostgreSQLServer.shared.value.uri(user: "missing_user")
        let refusal = try await #require(throws: OpeningRefusal.self) { try await PostgreSQLStore.check(uri) }
        guard case .rejected = refusal else {
            Issue.record("\(refusal)")
            return
        }
        #expect("\(refusal)".hasSuffix("; \(ConnectionObstacle.noRule.remedy)"))
    }

    @Test func `every cause has a remedy of its own`() {
        #expect(Set(ConnectionObstacle.allCases.map(\.remedy)).count == ConnectionObstacle.allCases.count)
    }

    @Test func `requests during an outage are refused with the remedy`() async throws {
        try await TestDatabase.withServer { server, database in
            let proxy = try CuttingProxy(to: server.port.number)
            let store = try await PostgreSQLStore.open(server.uri(database: database, port: proxy.port))
            proxy.refuse()
            let fault = try await #require(throws: StoreFault.self) { _ = try await store.recordedSettings() }
            #expect("\(fault)".hasPrefix("the store is unavailable: no connection to the database: no connection to"))
            await store.close()
            proxy.close()
        }
    }

    @Test func `missing rights are refused with the statement that grants them`() async throws {
        let server = try await PostgreSQLServer.shared.value
        try server.sql(
            "CREATE SCHEMA closed", "CREATE ROLE stranger LOGIN", "ALTER ROLE stranger SET search_path = closed",
            "CREATE SCHEMA readable", "CREATE ROLE reader LOGIN", "ALTER ROLE reader SET search_path = readable",
            "GRANT USAGE ON SCHEMA readable TO reader")
        let strangers = try server.uri(user: "stranger")
        let refusal = try await #require(throws: OpeningRefusal.self) { try await PostgreSQLStore.check(strangers) }
        #expect("\(refusal)".contains("GRANT USAGE, CREATE ON SCHEMA"))
        let readers = try server.uri(user: "reader")
        let other = try await #require(throws: OpeningRefusal.self) { try await PostgreSQLStore.migrate(readers) }
        #expect("\(other)".contains("GRANT USAGE, CREATE ON SCHEMA readable TO reader"))
        // It can use the schema, which has no tables.
        await #expect(throws: OpeningRefusal.noTables(database: "\(readers)")) {
            try await PostgreSQLStore.check(readers)
        }
    }

    @Test func `a missing right to one table is refused with the statement that grants it`() async throws {
        let server = try await PostgreSQLServer.shared.value
        let name = "rights_" + UUID().uuidString.filter(\.isHexDigit).lowercased()
        try server.sql("CREATE DATABASE \(name)", "CREATE ROLE \(name) LOGIN")
        try await PostgreSQLStore.migrate(server.uri(database: name))
        let grant = "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO \(name)"
        // A server only reads the version of the tables.
        try server.sql(
            grant, "REVOKE INSERT, UPDATE, DELETE ON counterfoil_schema FROM \(name)", database: name)
        let uri = try server.uri(user: name, database: name)
        try await PostgreSQLStore.check(uri)
        await (try PostgreSQLStore.open(uri)).close()

        let refusal = OpeningRefusal.missingRights(
            database: "\(uri)", reason: "\(name) lacks INSERT, UPDATE on refresh_tokens", remedy: grant)
        try server.sql("REVOKE INSERT, UPDATE ON refresh_tokens FROM \(name)", database: name)
        await #expect(throws: refusal) { try await PostgreSQLStore.check(uri) }
        await #expect(throws: refusal) { await (try PostgreSQLStore.open(uri)).close() }
        try server.sql("REVOKE ALL ON ALL TABLES IN SCHEMA public FROM \(name)", database: name)
        let others = try await #require(throws: OpeningRefusal.self) { try await PostgreSQLStore.check(uri) }
        #expect("\(others)".contains("SELECT, INSERT, UPDATE, DELETE on assertions"))
        #expect("\(others)".contains("and rights on \(SchemaVersion.tables.count - 3) other tables"))

        try server.sql(grant, database: name)
        try await PostgreSQLStore.check(uri)
    }

    @Test func `a silent node with an open transaction holds up the commits of others for a limited time`() async throws
    {
        try await TestDatabase.withServer { server, database in
            let store = try await PostgreSQLStore.open(server.uri(database: database))
            var limits = SessionLimits()
            limits.silence = .milliseconds(100)
            let silent = try Connection.open(server.uri(database: database).uri, limits: limits).connection
            _ = try silent.exchange(
                [Statement("BEGIN"), Statement("LOCK TABLE commit_order IN SHARE ROW EXCLUSIVE MODE")],
                by: .now + .seconds(30))
            // The commit waits for the lock until the server ends the transaction with it.
            try await store.note(["held": "no"])
            #expect(try await store.recordedSettings()["held"] == "no")
            #expect(throws: (any Error).self) {
                try silent.exchange([Statement("SELECT 1")], by: .now + .seconds(30))
            }
            await store.close()
        }
    }
}
