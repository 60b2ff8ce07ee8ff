import CounterfoilSQL
import CounterfoilServer
import CounterfoilStore
import Foundation
import GRDB
import TestSupport
import Testing

@testable import CounterfoilSQLite

/// The pauses of a copy, with a clock that the test sets.
struct CopyPaceTests {
    /// A clock that each look at it and each pause sets forward.
    private final class Clock {
        let look: Duration
        private(set) var pauses: [Duration] = []
        private var now = ContinuousClock.now

        init(look: Duration) { self.look = look }

        func pace() -> CopyPace {
            CopyPace(
                now: { [self] in
                    now += look
                    return now
                },
                pause: { [self] in
                    pauses.append($0)
                    now += $0
                })
        }
    }

    @Test(arguments: [
        (250, [750]), (10_000, [30_000]), (200, []), (500_000, [1_000_000]),
    ])
    func `a copy pauses for three times as long as it worked, but not for more than a second`(
        worked: Int, pauses: [Int]
    ) {
        let clock = Clock(look: .microseconds(worked))
        clock.pace().step()
        #expect(clock.pauses == pauses.map { .microseconds($0) })
    }

    @Test func `a copy works at its pace while it copies, and the database is not slowed down afterwards`() async throws
    {
        let directory = try TemporaryDirectory()
        let store = try SQLiteStore(at: directory.path("store.sqlite"))
        let draft = try DraftFile(at: directory.path("copy"))
        defer { draft.close() }
        let clock = Clock(look: .milliseconds(4))
        do {
            try await store.database.engine.commit {
                try $0.send(
                    """
                    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 5000)
                    INSERT INTO assertions (digest, expires_at) SELECT randomblob(32), n FROM numbers
                    """)
            }
            let terms = SQLiteStore.CopyTerms(issuer: nil, program: "test", isInJournal: false, takenAt: 1)
            let record = try store.copy(toFileAt: draft.path, draft.descriptor, terms, at: clock.pace())
            #expect(record.rows["assertions"] == 5000)
            // A row and its entry in the index take some instructions each, and there is a pause after 100 of them.
            #expect(clock.pauses.count >= 100)
            let during = clock.pauses.count
            // The same reader, with many instructions.
            let sum = try store.engine.readers.read { database in
                try Int.fetchOne(database, sql: "SELECT sum(expires_at) FROM assertions")
            }
            #expect(sum == 12_502_500)
            #expect(clock.pauses.count == during)
        } catch {
            await store.close()
            throw error
        }
        await store.close()
    }
}
