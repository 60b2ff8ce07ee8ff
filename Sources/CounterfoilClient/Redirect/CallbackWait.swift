@_spi(Counterfoil) import CounterfoilProtocol

/// The wait of a receiver for one callback.
///
/// It checks each callback that the receiver obtains, and passes the accepted callback to the waiting task.
final class CallbackWait: Sendable {
    /// The decision about a callback, from which the receiver selects its response to the browser.
    enum Decision: Sendable {
        /// The expected callback.
        ///
        /// The receiver responds to the browser and then calls ``CallbackWait/deliver(_:)``, which passes the
        /// callback to the waiting task.
        case accepted(CallbackExpectation.Answer)
        /// A callback without the `state` of the request; the wait continues.
        case unrelated
        /// A callback after the end of the wait.
        case ended(End)
    }

    enum End: Sendable, Hashable {
        /// A callback was accepted.
        case answered
        /// The wait timed out, was cancelled or failed, or the receiver was closed.
        case aborted
    }

    private enum Phase {
        case notExpecting
        case waiting(CallbackExpectation)
        case ended(End)
    }

    private struct State {
        var phase = Phase.notExpecting
        var result: Result<AuthorizationCallback, SignInError>?
        var waiters: [CheckedContinuation<Result<AuthorizationCallback, SignInError>, Never>] = []
    }

    private let state = Mutex(State())

    /// The reason why the wait ended; nil while it continues.
    var end: End? {
        state.withLock { state in
            if case .ended(let end) = state.phase { end } else { nil }
        }
    }

    func expect(_ expectation: CallbackExpectation) {
        state.withLock { state in
            if case .notExpecting = state.phase { state.phase = .waiting(expectation) }
        }
    }

    /// Checks a callback; accepts at most one, however many arrive concurrently.
    func decide(on callback: AuthorizationCallback) -> Decision {
        state.withLock { state in
            switch state.phase {
            case .notExpecting: return .unrelated
            case .ended(let end): return .ended(end)
            case .waiting(let expectation):
                switch expectation.verdict(on: callback) {
                case .unrelated: return .unrelated
                case .answer(let answer):
                    state.phase = .ended(.answered)
                    return .accepted(answer)
                }
            }
        }
    }

    /// Passes an accepted callback to the waiting tasks.
    func deliver(_ callback: AuthorizationCallback) { finish(with: .success(callback)) }

    /// Ends the wait with an error, unless it has already ended.
    func end(with error: SignInError) {
        let isFirst = state.withLock { state in
            if case .ended = state.phase { return false }
            state.phase = .ended(.aborted)
            return true
        }
        if isFirst { finish(with: .failure(error)) }
    }

    private func finish(with result: Result<AuthorizationCallback, SignInError>) {
        let waiters = state.withLock { state in
            state.result = state.result ?? result
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume(returning: result) }
    }

    /// Waits for the callback; throws ``SignInError/timedOut``, ``SignInError/cancelled`` or the error
    /// that ended the wait.
    func callback(within timeout: Duration) async throws(SignInError) -> AuthorizationCallback {
        let alarm = Task {
            do { try await Task.sleep(for: min(max(timeout, .zero), Self.longestTimeout)) } catch { return }
            end(with: .timedOut)
        }
        defer { alarm.cancel() }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let result = state.withLock { state in
                    if state.result == nil { state.waiters.append(continuation) }
                    return state.result
                }
                if let result { continuation.resume(returning: result) }
            }
        } onCancel: {
            end(with: .cancelled)
        }
        return try result.get()
    }

    /// A century; the clock cannot represent the end of some longer durations.
    private static let longestTimeout = Duration.seconds(3_155_760_000)

    /// Waits for the callback, and closes the receiver before it throws an error.
    func callback(
        within timeout: Duration, orClose close: () async -> Void
    ) async throws(SignInError) -> AuthorizationCallback {
        do {
            return try await callback(within: timeout)
        } catch {
            await close()
            throw error
        }
    }
}
