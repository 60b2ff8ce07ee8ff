@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Dispatch
import Testing

/// The queue of work such as password hashes, and its parties.
struct BoundedQueueTests {
    /// A queue of one thread, which is busy until the gate opens.
    private final class BusyQueue: Sendable {
        let queue = BoundedQueue(label: "test", width: 1, capacity: 8)
        private let gate = DispatchSemaphore(value: 0)
        private let state = Mutex(State())

        private struct State {
            /// The names of the work items that have run.
            var order: [String] = []
            /// The number of those that have not run yet.
            var left = 0
            var whenEmpty: CheckedContinuation<Void, Never>?
        }

        init() { _ = queue.start { [gate] in gate.wait() } }

        /// Queues a work item; returns false if it is refused.
        func start(
            _ name: String, for party: BoundedQueue.Party, doing work: @escaping @Sendable () -> Void = {}
        ) -> Bool {
            state.withLock { $0.left += 1 }
            let isAccepted = queue.start(for: party) {
                self.state.withLock { $0.order.append(name) }
                work()
                self.leave()
            }
            if !isAccepted { leave() }
            return isAccepted
        }

        /// Lets the queue run, and returns the names of the work items in their order.
        func run() async -> [String] {
            gate.signal()
            await withCheckedContinuation { continuation in
                let isEmpty = state.withLock { state in
                    if state.left > 0 { state.whenEmpty = continuation }
                    return state.left == 0
                }
                if isEmpty { continuation.resume() }
            }
            return state.withLock { $0.order }
        }

        private func leave() {
            let waiting = state.withLock { state -> CheckedContinuation<Void, Never>? in
                state.left -= 1
                guard state.left == 0 else { return nil }
                defer { state.whenEmpty = nil }
                return state.whenEmpty
            }
            waiting?.resume()
        }
    }

    private static func party(_ line: String, most: Int = 100) -> BoundedQueue.Party {
        BoundedQueue.Party(lines: [line], limits: [(line, most)])
    }

    @Test func `the parties are served in turn`() async {
        let busy = BusyQueue()
        for number in 1...4 { #expect(busy.start("a\(number)", for: Self.party("a"))) }
        #expect(busy.start("b", for: Self.party("b")))
        #expect(busy.start("c", for: Self.party("c")))
        let order = await busy.run()
        #expect(order.prefix(4) == ["a1", "b", "c", "a2"])
    }

    // One user from many sources.
    @Test func `work that has a line in common is served in turn`() async {
        let busy = BusyQueue()
        for number in 1...3 {
            let party = BoundedQueue.Party(lines: ["source \(number)", "alice"], limits: [])
            #expect(busy.start("a\(number)", for: party))
        }
        #expect(busy.start("b", for: BoundedQueue.Party(lines: ["source 4", "bob"], limits: [])))
        #expect(busy.start("b2", for: BoundedQueue.Party(lines: ["source 1", "bob"], limits: [])))
        #expect(await busy.run() == ["a1", "b", "a2", "b2", "a3"])
    }

    // Each of a and b has no work for a moment after each turn, as a caller that waits for its response.
    @Test func `parties that return after each turn pass over no work that waits`() async {
        let busy = BusyQueue()
        let former = Mutex<(line: String, number: Int)?>(nil)
        @Sendable func start(_ line: String, _ number: Int) {
            let isAccepted = busy.start("\(line)\(number)", for: Self.party(line)) {
                // The work item before this one has left its line.
                let ended = former.withLock { former in
                    defer { former = (line, number) }
                    return former
                }
                if let ended, ended.line != "c", ended.number < 3 { start(ended.line, ended.number + 1) }
            }
            #expect(isAccepted)
        }
        for (line, number) in [("a", 1), ("b", 1), ("c", 1), ("c", 2)] { start(line, number) }
        #expect(await busy.run() == ["a1", "b1", "c1", "c2", "a2", "b2", "a3", "b3"])
    }

    @Test func `one party cannot fill the queue`() async throws {
        let busy = BusyQueue()
        for number in 1...4 { #expect(busy.start("a\(number)", for: Self.party("a"))) }
        #expect(!busy.start("a5", for: Self.party("a")))
        #expect(throws: BoundedQueue.Overloaded.self) { try busy.queue.checkCapacity(for: Self.party("a")) }
        for line in ["b", "c", "d"] { #expect(busy.start(line, for: Self.party(line))) }
        try busy.queue.checkCapacity(for: Self.party("e"))
        _ = await busy.run()
    }

    @Test func `a party has a limited number of work items at once`() async {
        let busy = BusyQueue()
        #expect(busy.start("a1", for: Self.party("a", most: 2)))
        #expect(busy.start("a2", for: Self.party("a", most: 2)))
        #expect(!busy.start("a3", for: Self.party("a", most: 2)))
        #expect(await busy.run() == ["a1", "a2"])
        #expect(busy.start("a4", for: Self.party("a", most: 2)))
    }
}
