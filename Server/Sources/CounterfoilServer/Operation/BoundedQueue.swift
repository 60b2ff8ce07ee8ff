@_spi(Counterfoil) import CounterfoilProtocol
import Dispatch
import HTTPTypes

/// A queue that runs long work on separate threads, with a limit for running and a limit for waiting work items.
///
/// The work does not block event loops. Because of the limits, a flood of work can neither fill the memory nor use
/// more than `width` cores. Parties are served in turn, so the work of one waits for little of another.
package final class BoundedQueue: Sendable {
    /// The error for work that the full queue does not accept.
    package struct Overloaded: Error, Sendable {
        /// The seconds after which to retry.
        package let retryAfter: Int
    }

    /// The work of a queue at one time.
    package struct Load: Sendable {
        package let running: Int
        package let waiting: Int
        /// The number of work items that may wait.
        package let capacity: Int
    }

    /// The party for which work is done.
    package struct Party: Sendable {
        /// The names of the lines in which its work waits, such as a source and a user; lines are served in turn.
        let lines: [String]
        /// The maximum numbers of work items that run or wait, by the names for which they count.
        let limits: [(name: String, most: Int)]

        package init(lines: [String], limits: [(name: String, most: Int)]) {
            self.lines = lines
            self.limits = limits
        }

        /// The party without lines and limits, whose work is served in the order of its arrival.
        package static let unlimited = Party(lines: [], limits: [])
    }

    private typealias Job = @Sendable () -> Void

    /// A line with work that runs or waits, or one that has had its turn.
    private struct Line {
        /// The turn of the next work item.
        var turn = 0
        /// The number of work items that run or wait.
        var count = 0
    }

    private struct State {
        var running = 0
        /// The waiting work items in the order of their arrival.
        var waiting: [(turn: Int, job: Job)] = []
        /// The turn of the work item that began last.
        private var turn = 0
        private(set) var lines: [String: Line] = [:]
        /// The numbers of work items that run or wait, by the names in the limits of their parties.
        var counts: [String: Int] = [:]

        /// Removes the waiting work item with the lowest turn, the first of several.
        mutating func takeNext() -> Job? {
            guard let next = waiting.indices.min(by: { waiting[$0].turn < waiting[$1].turn }) else { return nil }
            let (turn, job) = waiting.remove(at: next)
            begin(turn)
            return job
        }

        /// Notes the turn of a work item that begins, and forgets the lines without work whose next turn has come.
        mutating func begin(_ turn: Int) {
            guard turn > self.turn else { return }
            self.turn = turn
            lines = lines.filter { $0.value.count > 0 || $0.value.turn > turn }
        }

        /// Counts a work item of a party, and returns its turn.
        ///
        /// The turn is after those of all work items that share a line with it, and not before the present one
        /// (start-time fair queueing). So an item whose lines have no other work waits for none of a later turn.
        mutating func enter(_ party: Party) -> Int {
            for limit in party.limits { counts[limit.name, default: 0] += 1 }
            let turn = party.lines.reduce(turn) { max($0, lines[$1]?.turn ?? 0) }
            for line in party.lines {
                lines[line, default: Line()].turn = turn + 1
                lines[line, default: Line()].count += 1
            }
            return turn
        }

        mutating func leave(_ party: Party) {
            for limit in party.limits {
                let count = counts[limit.name, default: 0] - 1
                counts[limit.name] = count > 0 ? count : nil
            }
            for name in party.lines {
                lines[name]?.count -= 1
                // A line that forgot its turn could have another one before the lines that wait for their next.
                guard let line = lines[name], line.count == 0, line.turn <= turn || lines.count > Self.lineLimit
                else { continue }
                lines[name] = nil
            }
        }

        /// The number of lines up to which one without work keeps its turn, because names can be made up.
        private static let lineLimit = 1024
    }

    private let queue: DispatchQueue
    private let width: Int
    private let capacity: Int
    private let state = Mutex(State())

    /// Creates a queue; a `width` below 1 counts as 1.
    ///
    /// - Parameters:
    ///   - label: The label of the dispatch queue.
    ///   - width: The number of work items that may run at once.
    ///   - capacity: The number of work items that may wait.
    package init(label: String, width: Int, capacity: Int) {
        queue = DispatchQueue(label: label, attributes: .concurrent)
        self.width = max(1, width)
        self.capacity = capacity
    }

    /// Runs a work item as soon as the limit of running work permits, and returns its result.
    package func run<Value: Sendable>(
        for party: Party = .unlimited, _ work: @escaping @Sendable () -> Value
    ) async throws(Overloaded) -> Value {
        let outcome: Result<Value, Overloaded> = await withCheckedContinuation { continuation in
            let isAccepted = start(for: party) {
                continuation.resume(returning: .success(work()))
            }
            if !isAccepted { continuation.resume(returning: .failure(Overloaded(retryAfter: Self.retryAfter))) }
        }
        return try outcome.get()
    }

    /// Throws ``Overloaded`` if the queue would not accept a work item now.
    package func checkCapacity(for party: Party = .unlimited) throws(Overloaded) {
        let isAccepted = state.withLock { accepts(party, $0) }
        if !isAccepted { throw Overloaded(retryAfter: Self.retryAfter) }
    }

    package var load: Load {
        state.withLock { Load(running: $0.running, waiting: $0.waiting.count, capacity: capacity) }
    }

    /// Returns true if the queue accepts a work item of a party.
    ///
    /// The second half of the places is for parties with at most one work item, so that none can fill the queue.
    private func accepts(_ party: Party, _ state: State) -> Bool {
        guard party.limits.allSatisfy({ state.counts[$0.name, default: 0] < $0.most }) else { return false }
        guard state.running >= width else { return true }
        return state.waiting.count < capacity / 2
            || state.waiting.count < capacity && party.lines.allSatisfy { state.lines[$0]?.count ?? 0 < 2 }
    }

    private static let retryAfter = 2

    /// Queues a work item and returns without waiting for its end; false if the queue is full.
    package func start(for party: Party = .unlimited, _ work: @escaping @Sendable () -> Void) -> Bool {
        let job: Job = {
            work()
            self.finish(party)
        }
        return state.withLock { state in
            guard accepts(party, state) else { return false }
            let turn = state.enter(party)
            if state.running < width {
                state.running += 1
                state.begin(turn)
                queue.async(execute: job)
            } else {
                state.waiting.append((turn, job))
            }
            return true
        }
    }

    private func finish(_ party: Party) {
        state.withLock { state in
            state.leave(party)
            if let next = state.takeNext() { queue.async(execute: next) } else { state.running -= 1 }
        }
    }
}

extension BoundedQueue.Overloaded: Refusing {
    var refusal: Refusal { Refusal(.tooManyRequests, .temporarilyUnavailable, .tooBusy, retryAfter: retryAfter) }
}
