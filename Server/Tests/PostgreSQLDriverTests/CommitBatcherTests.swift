import Foundation
import PostgreSQLTesting
import TestSupport
import Testing

@testable import PostgreSQLDriver

@Suite("PostgreSQL: gathered commits", .timeLimit(.minutes(2)))
struct CommitBatcherTests {
    /// Adds 1 to a row of a table, and returns the sum.
    private struct Increment: BatchedCommit {
        let table: String
        let id: Int64
        var step: Int64 = 1

        var key: [UInt8] { Array("\(id)".utf8) }

        static func statements(for batch: [Self]) -> [Statement] {
            let table = batch.first?.table ?? ""
            return [
                Statement(
                    """
                    UPDATE \(table) SET sum = sum + new.step
                    FROM unnest($1::int8[], $2::int8[]) WITH ORDINALITY AS new (id, step, place)
                    WHERE \(table).id = new.id RETURNING new.place, sum
                    """, batch.map(\.id), batch.map(\.step))
            ]
        }

        static func outcomes(of batch: [Self], from rows: [Rows]) throws -> [Int64?] {
            var outcomes = [Int64?](repeating: nil, count: batch.count)
            for (place, sum) in try rows.first?.all({ columns in (try columns.integer(), try columns.integer()) }) ?? []
            {
                outcomes[Int(place) - 1] = sum
            }
            return outcomes
        }
    }

    private struct Table {
        let server: PostgreSQLServer
        let proxy: CuttingProxy
        let threads: ConnectionThreads
        let batcher: CommitBatcher<Increment>
        let name = "g_" + UUID().uuidString.replacingOccurrences(of: "-", with: "").lowercased()

        init(rows: Int, threads count: Int = 4, batchesLimit: Int = 2) async throws {
            server = try await PostgreSQLServer.shared.value
            proxy = try CuttingProxy(to: server.port.number)
            var settings = ConnectionThreads.Settings()
            settings.threads = count
            settings.longestPause = .milliseconds(200)
            // A test ends the wait for a lock.
            settings.limits = SessionLimits(statement: .seconds(100), lock: .seconds(100))
            threads = try await ConnectionThreads.open(server.connectionURI(port: proxy.port), settings: settings)
            batcher = CommitBatcher(threads, batchesLimit: batchesLimit)
            try server.sql(
                "CREATE TABLE \(name) (id int8 PRIMARY KEY, sum int8 NOT NULL CHECK (sum < 1000))",
                "INSERT INTO \(name) SELECT id, 0 FROM generate_series(1, \(rows)) AS id")
        }

        var sums: [String] { get throws { try server.sql("SELECT sum::text FROM \(name) ORDER BY id") } }

        /// Locks a row until the connection commits.
        func lock(row: Int) throws -> Connection {
            let lock = try Connection.open(server.connectionURI()).connection
            _ = try lock.exchange([Statement("BEGIN")], by: .now + .seconds(30))
            _ = try lock.exchange(
                [Statement("SELECT * FROM \(name) WHERE id = \(row) FOR UPDATE")], by: .now + .seconds(30))
            return lock
        }

        /// Waits until a commit waits for the lock of a row.
        func awaitBlockedCommit() async throws {
            _ = try await Waiting.until("a batch that waits for the lock") {
                let waiting = try server.sql(
                    """
                    SELECT count(*)::text FROM pg_stat_activity
                    WHERE wait_event_type = 'Lock' AND query LIKE '%\(name)%'
                    """)
                return waiting == ["1"] ? true : nil
            }
        }

        func close() async {
            await threads.close()
            proxy.close()
        }
    }

    /// A deadline that no test reaches.
    private static var farDeadline: ContinuousClock.Instant { .now + .seconds(100) }

    @Test func `64 concurrent commits need few statements, and each caller gets its own outcome`() async throws {
        let table = try await Table(rows: 60)
        let name = table.name
        // While this transaction has the lock, no batch can end.
        let lock = try Connection.open(table.server.connectionURI()).connection
        _ = try lock.exchange([Statement("BEGIN")], by: .now + .seconds(30))
        _ = try lock.exchange([Statement("LOCK TABLE \(name) IN SHARE MODE")], by: .now + .seconds(30))
        let batcher = table.batcher
        let callers = Task {
            try await withThrowingTaskGroup(of: (Int64, Int64?).self) { group in
                for id in Int64(1)...64 {
                    group.addTask {
                        let commit = Increment(table: name, id: id, step: id)
                        return (id, try await batcher.commit(commit, by: Self.farDeadline))
                    }
                }
                return try await group.reduce(into: [:]) { $0[$1.0] = .some($1.1) }
            }
        }
        // Two batches are under way, and the rest waits.
        _ = try await Waiting.until("two batches that wait for the lock") {
            let waiting = try table.server.sql(
                "SELECT count(*)::text FROM pg_locks WHERE NOT granted AND relation = '\(name)'::regclass")
            return waiting == ["2"] ? true : nil
        }
        _ = try lock.exchange([Statement("COMMIT")], by: .now + .seconds(30))
        let outcomes = try await callers.value
        #expect(outcomes.count == 64)
        for id in Int64(1)...64 { #expect(outcomes[id] == .some(id <= 60 ? id : nil)) }
        #expect(try table.sums == (1...60).map { "\($0)" })
        let statements = table.server.log.split(separator: "\n").count {
            $0.contains("execute") && $0.contains(name) && $0.contains("UPDATE")
        }
        #expect((2...6).contains(statements), "\(statements)")
        await table.close()
    }

    @Test func `commits of one row are carried out one after the other`() async throws {
        let table = try await Table(rows: 1)
        let (batcher, name) = (table.batcher, table.name)
        let sums = try await withThrowingTaskGroup(of: Int64?.self) { group in
            for _ in 0..<20 { group.addTask { try await batcher.commit(Increment(table: name, id: 1)) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(sums.compactMap { $0 }.sorted() == Array(1...20))
        await table.close()
    }

    @Test func `a commit that breaks a rule fails alone`() async throws {
        let table = try await Table(rows: 10, threads: 1)
        let (batcher, name) = (table.batcher, table.name)
        let lock = try table.lock(row: 1)
        let first = Task { try await batcher.commit(Increment(table: name, id: 1), by: Self.farDeadline) }
        try await table.awaitBlockedCommit()
        let others = (2...10).map { id in
            Task {
                try await batcher.commit(
                    Increment(table: name, id: Int64(id), step: id == 5 ? 5000 : 1), by: Self.farDeadline)
            }
        }
        _ = try await Waiting.until("the next batch") { batcher.waitingCount == 9 ? true : nil }
        _ = try lock.exchange([Statement("COMMIT")], by: .now + .seconds(30))
        #expect(try await first.value == 1)
        for (id, other) in zip(2..., others) {
            if id == 5 {
                let fault = await #expect(throws: DatabaseFault.self) { try await other.value }
                #expect("\(String(describing: fault))".contains("23514"))
            } else {
                #expect(try await other.value == 1)
            }
        }
        await table.close()
    }

    @Test(arguments: [false, true])
    func `after a lost answer, only repeatable commits are sent again`(isRepeatable: Bool) async throws {
        let table = try await Table(rows: 4, threads: 1)
        let (batcher, name) = (table.batcher, table.name)
        _ = try await batcher.commit(Increment(table: name, id: 4))
        table.proxy.cutNext(.before)
        do {
            let sum = try await batcher.commit(Increment(table: name, id: 1), isRepeatable: isRepeatable)
            #expect(isRepeatable && sum == 1)
        } catch {
            guard !isRepeatable, case DatabaseFault.unconfirmed = error else { throw error }
            #expect(try table.sums == ["0", "0", "0", "1"])
        }
        await table.close()
    }

    @Test func `commits fail at once during an outage, except those that wait for their outcome`() async throws {
        let table = try await Table(rows: 4, threads: 2)
        let (batcher, name, proxy) = (table.batcher, table.name, table.proxy)
        _ = try await batcher.commit(Increment(table: name, id: 4))
        proxy.cutNext(.before)
        proxy.refuseLater()
        let waiting = Task { try await batcher.commit(Increment(table: name, id: 1), isRepeatable: true) }
        _ = try await Waiting.until("the outage") { table.threads.schedule.outage }
        let fault = await #expect(throws: DatabaseFault.self) {
            try await batcher.commit(Increment(table: name, id: 2))
        }
        #expect("\(String(describing: fault))".contains("unavailable"))
        proxy.refuse(false)
        #expect(try await waiting.value == 1)
        #expect(try table.sums == ["1", "0", "0", "1"])
        await table.close()
    }

    @Test func `an ordinary commit beside one whose outcome is unknown fails at once during an outage`() async throws {
        let table = try await Table(rows: 2, threads: 1, batchesLimit: 1)
        let (batcher, name) = (table.batcher, table.name)
        let lock = try table.lock(row: 1)
        let unknown = Task {
            try await batcher.commit(Increment(table: name, id: 1), by: Self.farDeadline, isRepeatable: true)
        }
        try await table.awaitBlockedCommit()
        let ordinary = Task { try await batcher.commit(Increment(table: name, id: 2), by: Self.farDeadline) }
        _ = try await Waiting.until("the ordinary commit") { batcher.waitingCount == 1 ? true : nil }
        table.proxy.refuse()
        let fault = await #expect(throws: DatabaseFault.self) { try await ordinary.value }
        #expect("\(String(describing: fault))".contains("no connection to the database"))
        _ = try lock.exchange([Statement("COMMIT")], by: .now + .seconds(30))
        table.proxy.refuse(false)
        // The first try may have been carried out.
        #expect([1, 2].contains(try await unknown.value))
        #expect(try table.sums.last == "0")
        await table.close()
    }

    @Test func `closing waits for the commits that wait for a batch, and refuses later ones`() async throws {
        let table = try await Table(rows: 3, threads: 1, batchesLimit: 1)
        let (batcher, name, threads) = (table.batcher, table.name, table.threads)
        let lock = try table.lock(row: 1)
        let first = Task { try await batcher.commit(Increment(table: name, id: 1), by: Self.farDeadline) }
        try await table.awaitBlockedCommit()
        // Two commits of one row need two more batches.
        let others = [2, 3, 3].map { id in
            Task { try await batcher.commit(Increment(table: name, id: id), by: Self.farDeadline) }
        }
        _ = try await Waiting.until("the other commits") { batcher.waitingCount == 3 ? true : nil }
        let closing = Task { await threads.close(within: .seconds(100)) }
        _ = try await Waiting.until("closing") { threads.schedule.isClosed ? true : nil }
        let fault = await #expect(throws: DatabaseFault.self) {
            try await batcher.commit(Increment(table: name, id: 2))
        }
        #expect(fault == .unavailable("the connections to the database are closed"))
        _ = try lock.exchange([Statement("COMMIT")], by: .now + .seconds(30))
        #expect(try await first.value == 1)
        var sums: [Int64?] = []
        for other in others { sums.append(try await other.value) }
        #expect(sums.compactMap { $0 }.sorted() == [1, 1, 2])
        await closing.value
        #expect(try table.sums == ["1", "1", "2"])
        await table.close()
    }
}
