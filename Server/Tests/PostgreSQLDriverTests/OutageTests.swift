import Foundation
import PostgreSQLTesting
import TestSupport
import Testing

@testable import PostgreSQLDriver

@Suite("PostgreSQL: outages and deadlines", .serialized, .timeLimit(.minutes(2)))
struct OutageTests {
    private static func threads(
        _ string: ConnectionURI, count: Int = 3, _ change: (inout ConnectionThreads.Settings) -> Void = { _ in }
    ) async throws -> ConnectionThreads {
        var settings = ConnectionThreads.Settings()
        settings.threads = count
        settings.longestPause = .milliseconds(200)
        change(&settings)
        return try await ConnectionThreads.open(string, settings: settings)
    }

    private static func ping(
        _ threads: ConnectionThreads, by deadline: ContinuousClock.Instant? = nil
    ) async throws {
        _ = try await threads.read(by: deadline) { transaction in try transaction.answers("SELECT true") }
    }

    /// Runs a statement and returns the reason of the fault, which must be `unavailable`.
    private static func unavailable(_ body: () async throws -> Void) async -> String {
        let error = await #expect(throws: DatabaseFault.self) { try await body() }
        guard case .unavailable(let reason) = error else {
            Issue.record("\(String(describing: error))")
            return ""
        }
        return reason
    }

    /// Waits until a request succeeds again.
    private static func awaitRecovery(_ threads: ConnectionThreads) async throws {
        _ = try await Waiting.until("a request that succeeds") { try? await ping(threads) }
    }

    @Test func `requests fail at once while the server is away, and succeed when it is back`() async throws {
        let server = try await PostgreSQLServer.start()
        let threads = try await Self.threads(server.connectionURI())
        // Several connections, which all die.
        try await threads.openConnections(3)
        #expect(threads.schedule.openConnections == 3)
        for _ in 0..<2 {
            try await server.stop()
            _ = await Self.unavailable { try await Self.ping(threads) }
            #expect(threads.schedule.outage != nil)
            // Without a queue: the deadline is far away, and 1,000 requests have their answer.
            for _ in 0..<1000 {
                let reason = await Self.unavailable {
                    _ = try await threads.read(by: .now + .seconds(3600)) { transaction in
                        try transaction.run("SELECT 1")
                    }
                }
                #expect(reason.contains("no connection to the database"))
            }
            #expect(threads.schedule.waitingCount == 0)
            try await server.start()
            try await Self.awaitRecovery(threads)
            #expect(threads.schedule.outage == nil)
        }
        await threads.close()
        try await server.stop()
    }

    @Test func `a restart between two requests costs no request`() async throws {
        let server = try await PostgreSQLServer.start()
        let threads = try await Self.threads(server.connectionURI())
        try await threads.openConnections(3)
        try await server.stop()
        try await server.start()
        _ = try await threads.commit([Statement("CREATE TABLE t (id int8)")]) { _ in }
        await threads.close()
        try await server.stop()
    }

    @Test func `a slow statement is ended by the deadline, and its connection is replaced`() async throws {
        let server = try await PostgreSQLServer.shared.value
        let threads = try await Self.threads(server.connectionURI(), count: 1)
        try await Self.ping(threads)
        let reason = await Self.unavailable {
            _ = try await threads.read(by: .now + .seconds(1)) { transaction in
                try transaction.run("SELECT pg_sleep(60)")
            }
        }
        #expect(reason.contains("no answer before the deadline"))
        try await Self.ping(threads)
        await threads.close()
    }

    @Test func `a request that waits for a connection is refused at its deadline`() async throws {
        let server = try await PostgreSQLServer.shared.value
        let threads = try await Self.threads(server.connectionURI(), count: 1)
        let gate = Gate()
        let slow = Task { try await threads.read { _ in gate.pass() } }
        try await gate.awaitArrivals()
        let reason = await Self.unavailable {
            _ = try await threads.read(by: .now + .milliseconds(100)) { transaction in try transaction.run("SELECT 1") }
        }
        #expect(reason == "no connection to the database was free before the deadline")
        gate.open()
        try await slow.value
        await threads.close()
    }

    @Test func `a request without enough time is refused, and its connection stays`() async throws {
        let server = try await PostgreSQLServer.shared.value
        let threads = try await Self.threads(server.connectionURI(), count: 1)
        func process() async throws -> Int64? {
            try await threads.read { transaction in
                try transaction.first("SELECT pg_backend_pid()") { columns in try columns.integer() }
            }
        }
        let first = try await process()
        for microseconds in 1...100 {
            let reason = await Self.unavailable {
                try await threads.commit([Statement("SELECT 1")], by: .now + .microseconds(microseconds * 20)) { _ in }
            }
            #expect(reason == "no connection to the database was free before the deadline")
        }
        #expect(try await process() == first)
        await threads.close()
    }

    @Test func `a connection on which nothing was sent before the deadline can be used`() async throws {
        let server = try await PostgreSQLServer.shared.value
        let connection = try Connection.open(server.connectionURI()).connection
        #expect(throws: DatabaseFault.unavailable("the deadline has passed")) {
            try connection.exchange([Statement("SELECT 1")], by: .now)
        }
        #expect(try connection.exchange([Statement("SELECT 1")], by: .now + .seconds(30)).count == 1)
    }

    @Test func `a full queue refuses at once`() async throws {
        let server = try await PostgreSQLServer.shared.value
        let threads = try await Self.threads(server.connectionURI(), count: 1) { $0.queueLimit = 2 }
        let gate = Gate()
        let slow: @Sendable () async throws -> Void = {
            try await threads.read(by: .now + .seconds(60)) { _ in gate.pass() }
        }
        let first = Task { try await slow() }
        try await gate.awaitArrivals()
        let others = (0..<2).map { _ in Task { try await slow() } }
        _ = try await Waiting.until("a full queue") { threads.schedule.waitingCount == 2 ? true : nil }
        let reason = await Self.unavailable {
            _ = try await threads.read(by: .now + .seconds(3600)) { transaction in try transaction.run("SELECT 1") }
        }
        #expect(reason == "the queue for the database is full (2 requests)")
        gate.open()
        for task in [first] + others { try await task.value }
        await threads.close()
    }

    @Test func `a server process that is stopped does not hold a request after its deadline`() async throws {
        let server = try await PostgreSQLServer.shared.value
        let threads = try await Self.threads(server.connectionURI(), count: 1)
        let process = try await threads.read { transaction in
            try transaction.first("SELECT pg_backend_pid()") { columns in try columns.integer() }
        }
        let pid = pid_t(try #require(process))
        kill(pid, SIGSTOP)
        defer { kill(pid, SIGCONT) }
        let error = await #expect(throws: DatabaseFault.self) {
            try await threads.commit([Statement("SELECT 1")], by: .now + .seconds(1)) { _ in }
        }
        #expect(error == .unconfirmed("no answer before the deadline"))
        try await Self.ping(threads)
        await threads.close()
    }

    @Test func `a read-only answer drops every connection, until the server can be written again`() async throws {
        let server = try await PostgreSQLServer.start()
        let threads = try await Self.threads(server.connectionURI())
        try server.sql("CREATE TABLE t (id int8)")
        try await threads.openConnections(3)
        try server.sql("ALTER SYSTEM SET default_transaction_read_only = on", "SELECT pg_reload_conf()::text")
        let insert = Statement("INSERT INTO t VALUES (1)")
        _ = try await Waiting.until("a refusal of the server that is read-only") {
            do {
                // The deadline is so far away that a request which waits for it would not end.
                try await threads.commit([insert], by: .now + .seconds(3600)) { _ in }
                return nil as Bool?
            } catch {
                if case DatabaseFault.unavailable = error { return true }
                throw error
            }
        }
        let reason = await Self.unavailable { try await Self.ping(threads, by: .now + .seconds(3600)) }
        #expect(reason.contains("read-only"))
        #expect(threads.schedule.openConnections == 0)
        let options = "-c default_transaction_read_only=off".replacingOccurrences(of: " ", with: "%20")
            .replacingOccurrences(of: "=", with: "%3D")
        let administrator = try Connection.open(server.connectionURI("options=\(options)")).connection
        for sql in ["ALTER SYSTEM RESET default_transaction_read_only", "SELECT pg_reload_conf()"] {
            _ = try administrator.exchange([Statement(sql)], by: .now + .seconds(30))
        }
        try await Self.awaitRecovery(threads)
        _ = try await threads.commit([insert]) { _ in }
        await threads.close()
        try await server.stop()
    }

    @Test func `a server without a free connection is unavailable, and says so`() async throws {
        let server = try await PostgreSQLServer.shared.value
        try server.sql("CREATE ROLE crowded LOGIN CONNECTION LIMIT 1")
        let string = try server.connectionURI(user: "crowded")
        let holder = try Connection.open(string).connection
        let refusal = #expect(throws: ConnectionFailure.self) { _ = try Connection.open(string) }
        #expect("\(try #require(refusal))".contains("too many connections for role"))
        holder.close()
        // A server process that ends holds its place for a moment, even after it has left the list of processes.
        let threads = try await Waiting.until("the end of a server process") {
            try? await Self.threads(string, count: 2)
        }
        _ = try await Waiting.until("the first of two connections") { try? await Self.ping(threads) }
        // With one of two connections, every request succeeds.
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<20 { group.addTask { await #expect(throws: Never.self) { try await Self.ping(threads) } } }
        }
        #expect(threads.schedule.openConnections == 1)
        await threads.close()
    }

    @Test func `old connections are replaced`() async throws {
        let server = try await PostgreSQLServer.shared.value
        let threads = try await Self.threads(server.connectionURI(), count: 1) { $0.lifetime = .milliseconds(100) }
        var processes: Set<Int64> = []
        for _ in 0..<3 {
            let process = try await threads.read { transaction in
                try transaction.first("SELECT pg_backend_pid()") { columns in try columns.integer() }
            }
            processes.insert(try #require(process))
            _ = try await Waiting.until("the end of the connection") {
                threads.schedule.openConnections == 0 ? true : nil
            }
        }
        #expect(processes.count == 3)
        await threads.close()
    }

    @Test func `closing waits for what is under way, and refuses what comes later`() async throws {
        let server = try await PostgreSQLServer.shared.value
        let threads = try await Self.threads(server.connectionURI(), count: 1)
        let gate = Gate()
        let running = Task {
            try await threads.read(by: .now + .seconds(60)) { transaction in
                gate.pass()
                return try transaction.answers("SELECT true")
            }
        }
        try await gate.awaitArrivals()
        let waiting = Task { try await Self.ping(threads, by: .now + .seconds(60)) }
        _ = try await Waiting.until("a waiting request") { threads.schedule.waitingCount == 1 ? true : nil }
        let closing = Task { await threads.close(within: .seconds(60)) }
        _ = try await Waiting.until("closing") { threads.schedule.isClosed ? true : nil }
        gate.open()
        await closing.value
        #expect(try await running.value == [true])
        try await waiting.value
        #expect(await Self.unavailable { try await Self.ping(threads) } == "the connections to the database are closed")
        #expect(threads.schedule.openConnections == 0)
    }

    @Test func `closing ends after its time limit`() async throws {
        let server = try await PostgreSQLServer.shared.value
        let threads = try await Self.threads(server.connectionURI(), count: 1)
        let gate = Gate()
        let running = Task { try await threads.read { _ in gate.pass() } }
        try await gate.awaitArrivals()
        let waiting = Task { await Self.unavailable { try await Self.ping(threads, by: .now + .seconds(60)) } }
        _ = try await Waiting.until("a waiting request") { threads.schedule.waitingCount == 1 ? true : nil }
        await threads.close(within: .milliseconds(100))
        #expect(await waiting.value == "the connections to the database are closed")
        gate.open()
        try await running.value
    }
}
