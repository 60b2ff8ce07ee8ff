import CounterfoilProtocol
import Dispatch

/// A queue that runs long work on separate threads, with a limit for running and a limit for waiting work items.
///
/// The work does not block event loops. Because of the limits, a flood of work can neither fill the memory nor use
/// more than `width` cores.
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

    private struct State {
        var running = 0
        var waiting: [@Sendable () -> Void] = []
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
    package func run<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async throws(Overloaded) -> Value {
        let outcome: Result<Value, Overloaded> = await withCheckedContinuation { continuation in
            let isAccepted = start {
                continuation.resume(returning: .success(work()))
            }
            if !isAccepted { continuation.resume(returning: .failure(Overloaded(retryAfter: Self.retryAfter))) }
        }
        return try outcome.get()
    }

    /// Throws ``Overloaded`` if the queue would not accept a work item now.
    package func checkCapacity() throws(Overloaded) {
        let isFull = state.withLock { $0.running >= width && $0.waiting.count >= capacity }
        if isFull { throw Overloaded(retryAfter: Self.retryAfter) }
    }

    package var load: Load {
        state.withLock { Load(running: $0.running, waiting: $0.waiting.count, capacity: capacity) }
    }

    private static let retryAfter = 2

    /// Queues a work item and returns without waiting for its end; false if the queue is full.
    package func start(_ work: @escaping @Sendable () -> Void) -> Bool {
        let job: @Sendable () -> Void = {
            work()
            self.finish()
        }
        return state.withLock { state in
            if state.running < width {
                state.running += 1
                queue.async(execute: job)
                return true
            }
            guard state.waiting.count < capacity else { return false }
            state.waiting.append(job)
            return true
        }
    }

    private func finish() {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.running -= 1
                return
            }
            queue.async(execute: state.waiting.removeFirst())
        }
    }
}
