import CounterfoilServer
import Foundation
import PostgreSQLTesting
import TestSupport
import Testing

@testable import CounterfoilPostgreSQL

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

    @Test func `transaction mode without prepared statements is refused with what to change`() async throws {
        let server = try await PostgreSQLServer.shared.value
        let options = Self.supportsStatements ? "max_prepared_statements = 0" : ""
        let pooler = try await PgBouncer(before: server, mode: "transaction", options)
        let refusal = await #expect(throws: OpeningRefusal.self) {
            await (try ConnectionThreads.open(server.uri(port: pooler.port.number))).close()
        }
        let description = "\(try #require(refusal))"
        #expect(description.contains("PgBouncer 1.21") && description.contains("max_prepared_statements"))
        try await pooler.stop()
    }

    @Test func `session mode is supported`() async throws {
        let server = try await PostgreSQLServer.shared.value
        let pooler = try await PgBouncer(before: server, mode: "session")
        try await Self.use(server.uri(port: pooler.port.number))
        try await pooler.stop()
    }

    @Test(.enabled(if: supportsStatements, "PgBouncer is older than 1.21"))
    func `transaction mode with prepared statements is supported`() async throws {
        let server = try await PostgreSQLServer.shared.value
        let pooler = try await PgBouncer(before: server, mode: "transaction", "max_prepared_statements = 100")
        try await Self.use(server.uri(port: pooler.port.number))
        try await pooler.stop()
    }

    /// Runs transactions on several connections.
    private static func use(_ string: ConnectionString) async throws {
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
