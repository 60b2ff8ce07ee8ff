import CounterfoilStore
import Testing

@testable import CounterfoilServer

/// The state of the store, as the heartbeat finds it.
struct StoreConditionTests {
    private let condition = StoreCondition()
    private let start = ContinuousClock.now

    /// Writes a heartbeat at a number of seconds, and returns whether the space had to be checked.
    private func beat(at seconds: Double = 0, hasSpace: Bool = true) -> Bool {
        let now = start + .seconds(seconds)
        condition.beginHeartbeat(at: now)
        condition.endHeartbeat(isWritten: true, at: now)
        defer { condition.endSpaceCheck(hasSpace: hasSpace) }
        return condition.beginSpaceCheck(at: now)
    }

    @Test func `a heartbeat that hangs counts as refused after the deadline of a request`() {
        condition.beginHeartbeat(at: start)
        #expect(!condition.refusesCommits(at: start + .seconds(5)))
        #expect(condition.refusesCommits(at: start + .seconds(5.1)))
        condition.endHeartbeat(isWritten: true, at: start + .seconds(6))
        #expect(!condition.refusesCommits(at: start + .seconds(60)))
    }

    @Test func `after a refused heartbeat, a check of the space finds that the store takes commits`() {
        condition.endHeartbeat(isWritten: false, at: start)
        condition.endHeartbeat(isWritten: true, at: start)
        #expect(condition.refusesCommits(at: start))
        #expect(condition.beginSpaceCheck(at: start))
        condition.endSpaceCheck(hasSpace: true)
        #expect(!condition.refusesCommits(at: start))
    }

    // A store with much to do answers late, at every server.
    @Test func `reads share one, which counts as missing five seconds after the last answer`() async {
        #expect(condition.fault(at: start) == nil)
        let (gate, opening) = AsyncStream<Void>.makeStream()
        let read = condition.read { () async throws(StoreFault) in for await _ in gate {} }
        #expect(condition.read { () async throws(StoreFault) in throw .damaged("a second read") } == read)
        #expect(condition.fault(at: start) == .unavailable("no answer"))
        condition.endHeartbeat(isWritten: true, at: start)
        #expect(condition.fault(at: start + .seconds(5)) == nil)
        #expect(condition.fault(at: start + .seconds(5.1)) == .unavailable("no answer"))
        condition.noteAnswer(at: start + .seconds(3))
        #expect(condition.fault(at: start + .seconds(8)) == nil)
        #expect(condition.fault(at: start + .seconds(8.1)) == .unavailable("no answer"))
        opening.finish()
        await read.value
        #expect(condition.fault(at: start + .seconds(60)) == nil)
        await condition.read { () async throws(StoreFault) in throw .damaged("page 7") }.value
        #expect(condition.fault(at: start) == .damaged("page 7"))
    }

    @Test func `the space is checked once in thirty heartbeats, after a fault, and while there is none`() {
        #expect(beat())
        #expect((1...29).allSatisfy { _ in !beat() })
        #expect(beat())
        #expect(!beat())
        condition.suspect(at: start)
        #expect(beat())
        // Clients can cause faults as often as they like.
        condition.suspect(at: start + .seconds(9))
        #expect(!beat(at: 9))
        #expect(beat(at: 10, hasSpace: false))
        #expect(beat(at: 10, hasSpace: false))
        #expect(beat(at: 10))
        #expect(!beat(at: 20))
        // A fault during a check can be newer than what that check has tried.
        condition.suspect(at: start + .seconds(20))
        #expect(condition.beginSpaceCheck(at: start + .seconds(20)))
        condition.suspect(at: start + .seconds(20))
        condition.endSpaceCheck(hasSpace: true)
        #expect(beat(at: 30))
    }
}
