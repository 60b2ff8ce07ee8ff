import Foundation
import PostgreSQLTesting
import TestSupport
import Testing

@testable import PostgreSQLDriver

@Suite("PostgreSQL: random faults", .timeLimit(.minutes(2)))
struct RandomFaultTests {
    /// Inserts a row once, however often it is sent.
    private struct Insert: BatchedCommit {
        let table: String
        let id: Int64

        var key: [UInt8] { Array("\(id)".utf8) }

        static func statements(for batch: [Self]) -> [Statement] {
            let table = batch.first?.table ?? ""
            return [
                Statement(
                    "INSERT INTO \(table) SELECT id FROM unnest($1::int8[]) AS id ON CONFLICT DO NOTHING",
                    batch.map(\.id))
            ]
        }

        static func outcomes(of batch: [Self], from rows: [Rows]) throws -> [Bool] { batch.map { _ in true } }
    }

    private enum Outcome: Sendable {
        case committed, unchanged, unknown
    }

    private static func outcome(_ commit: () async throws -> Void) async throws -> Outcome {
        do {
            try await commit()
            return .committed
        } catch {
            switch error {
            case DatabaseFault.unavailable: return .unchanged
            case DatabaseFault.unconfirmed: return .unknown
            default: throw error
            }
        }
    }

    @Test func `with connections that are cut at random, every outcome is true and no request hangs`() async throws {
        let server = try await PostgreSQLServer.shared.value
        let proxy = try CuttingProxy(to: server.port.number)
        var settings = ConnectionThreads.Settings()
        settings.threads = 4
        settings.firstPause = .milliseconds(1)
        settings.longestPause = .milliseconds(10)
        let threads = try await ConnectionThreads.open(server.connectionURI(port: proxy.port), settings: settings)
        let batcher = CommitBatcher<Insert>(threads, batchLimit: 8)
        let name = "r_" + UUID().uuidString.replacingOccurrences(of: "-", with: "").lowercased()
        try server.sql(
            "CREATE TABLE \(name) (id int8 PRIMARY KEY)", "CREATE TABLE \(name)_sum (sum int8)",
            "INSERT INTO \(name)_sum VALUES (0)")
        proxy.cutEvery(7)
        let outcomes = try await withThrowingTaskGroup(of: [(Int64, Outcome)].self) { group in
            for caller in Int64(0)..<12 {
                group.addTask {
                    var outcomes: [(Int64, Outcome)] = []
                    for number in Int64(0)..<30 {
                        let id = caller * 1000 + number
                        let outcome = try await Self.outcome {
                            switch number % 3 {
                            case 0: _ = try await batcher.commit(Insert(table: name, id: id), isRepeatable: true)
                            case 1:
                                try await threads.commit([Statement("INSERT INTO \(name) VALUES ($1)", id)]) { _ in }
                            default:
                                try await threads.commit { transaction in
                                    try transaction.run("INSERT INTO \(name) VALUES ($1)", id)
                                    try transaction.run("UPDATE \(name)_sum SET sum = sum + 1")
                                }
                            }
                        }
                        outcomes.append((id, outcome))
                        // During an outage requests fail at once, and all of them would end before it does.
                        _ = try await Waiting.until("a connection") {
                            threads.schedule.outage == nil ? true : nil
                        }
                    }
                    return outcomes
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        proxy.cutEvery(nil)
        // Server processes whose connection was cut may still be committing.
        _ = try await Waiting.until("the end of all transactions") {
            let active = try server.sql(
                "SELECT count(*)::text FROM pg_stat_activity WHERE state <> 'idle' AND query LIKE '%\(name)%'",
                "SELECT count(*)::text FROM pg_locks WHERE relation = '\(name)'::regclass")
            return active == ["0"] ? true : nil
        }
        let ids = Set(try server.sql("SELECT id::text FROM \(name)").compactMap { Int64($0) })
        for (id, outcome) in outcomes {
            switch outcome {
            case .committed: #expect(ids.contains(id), "\(id)")
            case .unchanged: #expect(!ids.contains(id), "\(id)")
            case .unknown: break
            }
        }
        #expect(outcomes.count == 360)
        #expect(outcomes.count { $0.1 == .committed } > 36)
        let sum = ids.count { $0 % 1000 % 3 == 2 }
        #expect(try server.sql("SELECT sum::text FROM \(name)_sum") == ["\(sum)"])
        await threads.close()
        proxy.close()
    }
}
