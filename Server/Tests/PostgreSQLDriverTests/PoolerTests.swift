import Foundation
import PostgreSQLTesting
import TestSupport
import Testing

@testable import PostgreSQLDriver

@Suite(
    "PostgreSQL: behind PgBouncer", .enabled(if: PgBouncer.program != nil, "PgBouncer is not installed"),
    .timeLimit(.minutes(2)))
struct PoolerTests {
    /// The version that supports prepared statements in transaction mode, as text of `pgbouncer --version`.
    private static var supportsStatements: Bool {
        let process = Process()
        process.executableURL = PgBouncer.program.map { URL(fileURLWithPath: $0) }
        process.arguments = ["--version"]
        let output = Pipe()
        process.standardOutput = output
        guard (try? process.run()) != nil else { return false }
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        let numbers = text.split(separator: "\n").first?.split(separator: " ").last?.split(separator: ".") ?? []
        let (major, minor) = (Int(numbers.first ?? "") ?? 0, Int(numbers.dropFirst().first ?? "") ?? 0)
        return (major, minor) >= (1, 21)
    }

    @Test(arguments: ["", "default_pool_size = 1", "server_round_robin = 1\nmin_pool_size = 2\ndefault_pool_size = 2"])
    func `transaction mode without prepared statements is refused with what to change`(pool: String) async throws {
        let server = try await PostgreSQLServer.shared.value
        let options = pool + (Self.supportsStatements ? "\nmax_prepared_statements = 0" : "")
        let pooler = try await PgBouncer(before: server, mode: "transaction", options)
        let string = try server.connectionURI(port: pooler.port.number)
        let refusal = await #expect(throws: ConnectionFailure.self) {
            await (try ConnectionThreads.open(string)).close()
        }
        #expect(refusal == .poolerWithoutStatements)
        try await pooler.stop()
    }

    @Test func `session mode is supported`() async throws {
        let server = try await PostgreSQLServer.shared.value
        let pooler = try await PgBouncer(before: server, mode: "session")
        try await Self.use(server.connectionURI(port: pooler.port.number))
        try await pooler.stop()
    }

    // A pool of one has no server connection for the second client, which waits for it.
    @Test(arguments: [1, 2]) func `session mode with a small pool is supported`(size: Int) async throws {
        let server = try await PostgreSQLServer.shared.value
        let pooler = try await PgBouncer(before: server, mode: "session", "default_pool_size = \(size)")
        let string = try server.connectionURI(port: pooler.port.number, "connect_timeout=2")
        let threads = try await ConnectionThreads.open(string)
        let answer = try await threads.commit { transaction in
            try transaction.first("SELECT $1::int8", 7) { columns in try columns.integer() }
        }
        #expect(answer == 7)

        // All server connections of the pool are in use now.
        let others = (1..<size).compactMap { _ in try? Connection.open(string).connection }
        let refusal = try #require(#expect(throws: ConnectionFailure.self) { try Connection.open(string) })
        guard case .unreachable(_, .unanswered) = refusal else {
            Issue.record("\(refusal)")
            return
        }
        others.forEach { $0.close() }
        await threads.close()
        try await pooler.stop()
    }

    @Test(.enabled(if: supportsStatements, "PgBouncer is older than 1.21"))
    func `transaction mode with prepared statements is supported`() async throws {
        let server = try await PostgreSQLServer.shared.value
        let pooler = try await PgBouncer(before: server, mode: "transaction", "max_prepared_statements = 100")
        try await Self.use(server.connectionURI(port: pooler.port.number))
        try await pooler.stop()
    }

    /// Runs transactions on several connections.
    private static func use(_ string: ConnectionURI) async throws {
        let threads = try await ConnectionThreads.open(string)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                group.addTask {
                    let answer = try await threads.commit { transaction in
                        _ = try transaction.run("SELECT 1")
                        return try transaction.first("SELECT $1::int8", number) { columns in try columns.integer() }
                    }
                    #expect(answer == Int64(number))
                }
            }
            try await group.waitForAll()
        }
        await threads.close()
    }
}
