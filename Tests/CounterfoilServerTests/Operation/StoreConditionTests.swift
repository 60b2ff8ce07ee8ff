import Testing

@testable import CounterfoilServer

/// The state of the store, as the heartbeat finds it.
struct StoreConditionTests {
    private let condition = StoreCondition()
    private let start = ContinuousClock.now

    /// Writes a heartbeat, and returns whether it had to take up space.
    private func beat(isWritten: Bool = true) -> Bool {
        defer { condition.endHeartbeat(isWritten: isWritten, at: start) }
        return condition.beginHeartbeat(at: start)
    }

    @Test func `a heartbeat that hangs counts as refused after the deadline of a request`() {
        _ = condition.beginHeartbeat(at: start)
        #expect(!condition.refusesCommits(at: start + .seconds(5)))
        #expect(condition.refusesCommits(at: start + .seconds(5.1)))
        condition.endHeartbeat(isWritten: true, at: start + .seconds(6))
        #expect(!condition.refusesCommits(at: start + .seconds(60)))
    }

    // A store with much to do answers late, at every server.
    @Test func `a late answer counts as none three seconds after the last one`() {
        #expect(!condition.hasAnswered(at: start))
        condition.noteAnswer(at: start)
        #expect(condition.hasAnswered(at: start + .seconds(3)))
        #expect(!condition.hasAnswered(at: start + .seconds(3.1)))
        #expect(beat(isWritten: false))
        #expect(!condition.hasAnswered(at: start + .seconds(3.1)))
    }

    @Test func `a heartbeat takes up space after a fault, while commits are refused, and once in thirty`() {
        #expect(beat())
        #expect((1...29).allSatisfy { _ in !beat() })
        #expect(beat())
        #expect(!beat())
        condition.doubt()
        #expect(beat(isWritten: false))
        #expect(beat(isWritten: false))
        #expect(beat())
        #expect(!beat())
        // A fault during a heartbeat can be newer than what that heartbeat has tried.
        _ = condition.beginHeartbeat(at: start)
        condition.doubt()
        condition.endHeartbeat(isWritten: true, at: start)
        #expect(beat())
    }
}
