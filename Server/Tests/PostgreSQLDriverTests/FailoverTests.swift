import Foundation
import PostgreSQLTesting
import TestSupport
import Testing

@testable import PostgreSQLDriver

@Suite("PostgreSQL: replication and ended server processes", .timeLimit(.minutes(2)))
struct FailoverTests {
    private static func threads(_ server: PostgreSQLServer) async throws -> ConnectionThreads {
        var settings = ConnectionThreads.Settings()
        settings.threads = 2
        return try await ConnectionThreads.open(server.connectionURI(), settings: settings)
    }

    /// Starts a server whose commits wait for a standby that does not exist.
    private static func withoutStandby() async throws -> PostgreSQLServer {
        let server = try await PostgreSQLServer.start()
        try server.sql("CREATE TABLE t (id int8)", "CREATE TABLE probes (id int8)")
        try server.sql("ALTER SYSTEM SET synchronous_standby_names = 'missing'", "SELECT pg_reload_conf()::text")
        // The setting is in force when a commit waits.
        _ = try await Waiting.until("a commit that waits") {
            let connection = try Connection.open(server.connectionURI()).connection
            let probe = Statement("INSERT INTO probes VALUES (1)")
            return (try? connection.exchange([probe], by: .now + .milliseconds(300))) == nil ? true : nil
        }
        try await Self.endWait(on: server, by: "pg_terminate_backend")
        _ = try await Waiting.until("the end of the probe") {
            try server.sql("SELECT count(*)::text FROM pg_stat_activity WHERE wait_event = 'SyncRep'") == ["0"]
                ? true : nil
        }
        return server
    }

    /// Ends the one commit that waits for a standby, by a function of PostgreSQL.
    private static func endWait(on server: PostgreSQLServer, by function: String) async throws {
        _ = try await Waiting.until("a commit that waits for its standby") {
            let ended = try server.sql(
                "SELECT \(function)(pid)::text FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
            return ended == ["true"] ? true : nil
        }
    }

    @Test(arguments: ["pg_cancel_backend", "pg_terminate_backend"], [false, true])
    func `a commit whose wait for the standby was ended is unconfirmed`(
        function: String, inOneRoundTrip: Bool
    ) async throws {
        let server = try await Self.withoutStandby()
        let threads = try await Self.threads(server)
        let commit = Task {
            if inOneRoundTrip {
                try await threads.commit([Statement("INSERT INTO t VALUES (1)")]) { _ in }
            } else {
                try await threads.commit { transaction in _ = try transaction.run("INSERT INTO t VALUES (1)") }
            }
        }
        try await Self.endWait(on: server, by: function)
        let fault = await #expect(throws: DatabaseFault.self) { try await commit.value }
        #expect("\(String(describing: fault))".contains("did not confirm a commit"))
        // It is committed here, and no standby has it.
        #expect(try server.sql("SELECT id::text FROM t") == ["1"])
        await threads.close()
        try await server.stop()
    }

    @Test func `no limit of the session ends the wait for a standby`() async throws {
        let server = try await Self.withoutStandby()
        var settings = ConnectionThreads.Settings()
        settings.limits = SessionLimits(statement: .milliseconds(100), lock: .milliseconds(100))
        let threads = try await ConnectionThreads.open(server.connectionURI(), settings: settings)
        try await threads.openConnections(1)
        let fault = await #expect(throws: DatabaseFault.self) {
            try await threads.commit([Statement("INSERT INTO t VALUES (1)")], by: .now + .seconds(1)) { _ in }
        }
        #expect(fault == .unconfirmed("no answer before the deadline"))
        await threads.close()
        try await server.stop()
    }

    @Test func `a read whose server process is ended is answered by another one`() async throws {
        let server = try await PostgreSQLServer.start()
        let threads = try await Self.threads(server)
        let runs = Counter()
        let number = try await threads.read { transaction in
            let run = runs.next()
            let process = try transaction.first("SELECT pg_backend_pid()") { columns in try columns.integer() }
            if run == 1, let process { try server.sql("SELECT pg_terminate_backend(\(process))::text") }
            _ = try transaction.run("SELECT 1")
            return run
        }
        #expect(number == 2)
        await threads.close()
        try await server.stop()
    }

    @Test func `a hot standby is not used for writing, and its primary is found`() async throws {
        let primary = try await PostgreSQLServer.start()
        let standby = try await primary.startStandby()
        let string = try ConnectionURI(
            "postgresql://counterfoil@127.0.0.1:\(standby.port.number),127.0.0.1:\(primary.port.number)/postgres")
        let threads = try await ConnectionThreads.open(string)
        try await threads.commit([Statement("CREATE TABLE t (id int8)")]) { _ in }
        // Replication is asynchronous: a standby that has not received the table would never have it.
        _ = try await Waiting.until("the table on the standby") {
            try standby.sql("SELECT to_regclass('t')::text") == ["t"] ? true : nil
        }
        // The primary dies, and the standby takes over.
        try await primary.stop()
        try standby.promote()
        _ = try await Waiting.until("a commit on the new primary") {
            try? await threads.commit([Statement("INSERT INTO t VALUES (1)")]) { _ in }
        }
        await threads.close()
        try await standby.stop()
    }

    @Test func `a primary that becomes read-only costs no request, however many connections to it are idle`()
        async throws
    {
        let (former, new) = (try await PostgreSQLServer.start(), try await PostgreSQLServer.shared.value)
        let name = "f_" + UUID().uuidString.replacingOccurrences(of: "-", with: "").lowercased()
        for server in [former, new] { try server.sql("CREATE TABLE \(name) (id int8)") }
        let string = try ConnectionURI(
            "postgresql://counterfoil@127.0.0.1:\(former.port.number),127.0.0.1:\(new.port.number)/postgres")
        let threads = try await ConnectionThreads.open(string)
        try await threads.openConnections(5)
        try former.sql("ALTER SYSTEM SET default_transaction_read_only = on", "SELECT pg_reload_conf()::text")
        let insert = Statement("INSERT INTO \(name) VALUES (1) RETURNING inet_server_port()")
        _ = try await Waiting.until("a commit on the other server") {
            // The deadline is so far away that a request which waits for it would not end.
            let port = try await threads.commit([insert], by: .now + .seconds(3600)) { rows in
                try rows.first?.first { columns in try columns.integer() }
            }
            return port == Int64(new.port.number) ? true : nil
        }
        let port = try await threads.read(by: .now + .seconds(3600)) { transaction in
            try transaction.first("SELECT inet_server_port()") { columns in try columns.integer() }
        }
        #expect(port == Int64(new.port.number))
        await threads.close()
        try await former.stop()
    }
}
