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
        /// The name of the line in which its work waits; lines are served in turn.
        let line: String
        /// The maximum numbers of work items that run or wait, by the names for which they count.
        let limits: [(name: String, most: Int)]

        package init(line: String, limits: [(name: String, most: Int)]) {
            self.line = line
            self.limits = limits
        }

        /// The party without limits.
        package static let unlimited = Party(line: "", limits: [])
    }

    private typealias Job = @Sendable () -> Void

    private struct State {
        var running = 0
        var waiting = 0
        var lines: [String: [Job]] = [:]
        /// The lines with waiting work, the next one first.
        var order: [String] = []
        /// The numbers of work items that run or wait, by the names in the limits of their parties.
        var counts: [String: Int] = [:]

        /// Removes the next waiting work item, and moves its line to the end.
        mutating func takeNext() -> Job? {
            guard !order.isEmpty else { return nil }
            let line = order.removeFirst()
            guard var jobs = lines.removeValue(forKey: line), !jobs.isEmpty else { return nil }
            let job = jobs.removeFirst()
            waiting -= 1
            if !jobs.isEmpty {
                lines[line] = jobs
                order.append(line)
            }
            return job
        }

        mutating func append(_ job: @escaping Job, to line: String) {
            waiting += 1
            if lines[line] == nil { order.append(line) }
            lines[line, default: []].append(job)
        }

        mutating func count(_ party: Party, by change: Int) {
            for limit in party.limits {
                let count = counts[limit.name, default: 0] + change
                counts[limit.name] = count > 0 ? count : nil
            }
        }
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
        state.withLock { Load(running: $0.running, waiting: $0.waiting, capacity: capacity) }
    }

    /// Returns true if the queue accepts a work item of a party.
    ///
    /// The second half of the places is for parties with at most one work item, so that none can fill the queue.
    private func accepts(_ party: Party, _ state: State) -> Bool {
        guard party.limits.allSatisfy({ state.counts[$0.name, default: 0] < $0.most }) else { return false }
        guard state.running >= width else { return true }
        return state.waiting < capacity / 2
            || state.waiting < capacity && state.counts[party.line, default: 0] < 2
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
            state.count(party, by: 1)
            if state.running < width {
                state.running += 1
                queue.async(execute: job)
            } else {
                state.append(job, to: party.line)
            }
            return true
        }
    }

    private func finish(_ party: Party) {
        state.withLock { state in
            state.count(party, by: -1)
            if let next = state.takeNext() { queue.async(execute: next) } else { state.running -= 1 }
        }
    }
}

extension BoundedQueue.Overloaded: Refusing {
    var refusal: Refusal { Refusal(.tooManyRequests, .temporarilyUnavailable, .tooBusy, retryAfter: retryAfter) }
}
