import Dispatch
import Synchronization

/// Work that takes long, on threads of its own: only so much at once, only so much waiting, the rest refused.
///
/// An event loop must not wait for it, and nobody who asks for much of it can fill the memory or all cores.
package final class BoundedQueue: Sendable {
    /// More work waits than the queue holds.
    package struct Overloaded: Error, Sendable {
        /// When to try again, in seconds.
        package let retryAfter: Int
    }

    private struct State {
        var running = 0
        var waiting: [@Sendable () -> Void] = []
    }

    private let queue: DispatchQueue
    private let width: Int
    private let capacity: Int
    private let state = Mutex(State())

    /// Makes a queue: `width` is how much may run at once, and `capacity` how much may wait.
    package init(label: String, width: Int, capacity: Int) {
        queue = DispatchQueue(label: label, attributes: .concurrent)
        self.width = max(1, width)
        self.capacity = capacity
    }

    /// Does work when there is room for it.
    package func run<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async throws(Overloaded) -> Value {
        let outcome: Result<Value, Overloaded> = await withCheckedContinuation { continuation in
            let isAccepted = start {
                continuation.resume(returning: .success(work()))
            }
            if !isAccepted { continuation.resume(returning: .failure(Overloaded(retryAfter: 2))) }
        }
        return try outcome.get()
    }

    /// Does work when there is room for it, without anybody waiting; false when there is not even room to wait.
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
