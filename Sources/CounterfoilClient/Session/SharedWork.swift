@_spi(Counterfoil) import CounterfoilProtocol

/// A piece of work that runs once and gives its result to every caller that waits for it.
///
/// The work runs to its end even if all callers stop waiting. Cancelling one caller affects neither the
/// work nor the other callers.
final class SharedWork<Value: Sendable>: Sendable {
    private enum State {
        case running(waiters: [Int: CheckedContinuation<Value?, Never>])
        case done(Value)
    }

    private let state = Mutex<(State, next: Int)>((.running(waiters: [:]), next: 0))
    private let task = Mutex<Task<Void, Never>?>(nil)

    /// Starts the work in a detached task.
    init(_ work: @escaping @Sendable () async -> Value) {
        task.withLock { $0 = Task.detached { self.finish(with: await work()) } }
    }

    /// Cancels the work itself, for all callers.
    func cancel() { task.withLock { $0?.cancel() } }

    /// Waits for the result; nil if the waiting task is cancelled first.
    func value() async -> Value? {
        let id = state.withLock { state in
            state.next += 1
            return state.next
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let known: Value?? = state.withLock { state in
                    switch state.0 {
                    case .done(let value): return .some(value)
                    // The task was cancelled before it began to wait. The cancellation handler has already run, and
                    // would not resume a continuation that is added now.
                    case .running where Task.isCancelled: return .some(nil)
                    case .running(var waiters):
                        waiters[id] = continuation
                        state.0 = .running(waiters: waiters)
                        return nil
                    }
                }
                if let known { continuation.resume(returning: known) }
            }
        } onCancel: {
            let waiter = state.withLock { state -> CheckedContinuation<Value?, Never>? in
                guard case .running(var waiters) = state.0 else { return nil }
                let waiter = waiters.removeValue(forKey: id)
                state.0 = .running(waiters: waiters)
                return waiter
            }
            waiter?.resume(returning: nil)
        }
    }

    /// Waits for the result for a time; nil if the time expires, or if the waiting task is cancelled.
    func value(within limit: Duration) async -> Value? {
        await withTaskGroup(of: Value?.self) { group in
            group.addTask { await self.value() }
            group.addTask {
                try? await Task.sleep(for: limit)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
    }

    private func finish(with value: Value) {
        let waiters = state.withLock { state -> [CheckedContinuation<Value?, Never>] in
            guard case .running(let waiters) = state.0 else { return [] }
            state.0 = .done(value)
            return Array(waiters.values)
        }
        for waiter in waiters { waiter.resume(returning: value) }
    }
}
