import PostgreSQLTesting
import TestSupport
import Testing

@testable import PostgreSQLDriver

@Suite("PostgreSQL: the schedule of the connections", .timeLimit(.minutes(2)))
struct ScheduleTests {
    @Test func `a job that comes back after the time limit of closing is refused`() async throws {
        let schedule = Schedule(threads: 1, queueLimit: 10)
        _ = schedule.connected(0)
        let closing = Task { await withCheckedContinuation { continuation in _ = schedule.close(continuation) } }
        _ = try await Waiting.until("closing") { schedule.isClosed ? true : nil }
        schedule.giveUpClosing()
        await closing.value
        let refusals = Counter()
        let job = Job(
            deadline: .now + .seconds(60), isRepeatable: true, run: { _, _ in .answered },
            refuse: { _, _ in refusals.next() })
        schedule.resubmit(job, after: .unknown(reason: "the answer is lost"))
        #expect(refusals.value == 1)
        #expect(schedule.waitingCount == 0)
    }
}
