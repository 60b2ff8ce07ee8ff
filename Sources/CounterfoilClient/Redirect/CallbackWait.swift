import CounterfoilProtocol
import NIOCore
import NIOPosix
import Synchronization

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

    private let phase = Mutex(Phase.notExpecting)
    private let answers: AsyncStream<Result<AuthorizationCallback, SignInError>>
    private let answer: AsyncStream<Result<AuthorizationCallback, SignInError>>.Continuation

    init() {
        (answers, answer) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1))
    }

    /// The reason why the wait ended; nil while it continues.
    var end: End? {
        phase.withLock { phase in
            if case .ended(let end) = phase { end } else { nil }
        }
    }

    func expect(_ expectation: CallbackExpectation) {
        phase.withLock { phase in
            if case .notExpecting = phase { phase = .waiting(expectation) }
        }
    }

    /// Checks a callback; accepts at most one, however many arrive concurrently.
    func decide(on callback: AuthorizationCallback) -> Decision {
        phase.withLock { phase in
            switch phase {
            case .notExpecting: return .unrelated
            case .ended(let end): return .ended(end)
            case .waiting(let expectation):
                switch expectation.verdict(on: callback) {
                case .unrelated: return .unrelated
                case .answer(let answer):
                    phase = .ended(.answered)
                    return .accepted(answer)
                }
            }
        }
    }

    func deliver(_ callback: AuthorizationCallback) {
        answer.yield(.success(callback))
        answer.finish()
    }

    /// Ends the wait with an error, unless it has already ended.
    func end(with error: SignInError) {
        let isFirst = phase.withLock { phase in
            if case .ended = phase { return false }
            phase = .ended(.aborted)
            return true
        }
        guard isFirst else { return }
        answer.yield(.failure(error))
        answer.finish()
    }

    /// Waits for the callback; throws ``SignInError/timedOut``, ``SignInError/cancelled`` or the error
    /// that ended the wait.
    func callback(within timeout: Duration) async throws(SignInError) -> AuthorizationCallback {
        let alarm = MultiThreadedEventLoopGroup.singleton.any().scheduleTask(in: TimeAmount(atMost: timeout)) {
            self.end(with: .timedOut)
        }
        defer { alarm.cancel() }
        for await result in answers {
            return try result.get()
        }
        end(with: .cancelled)
        throw .cancelled
    }

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

extension TimeAmount {
    /// Creates a timer delay, clamped to the range from zero to one century.
    init(atMost duration: Duration) {
        let seconds = min(max(duration, .zero), .seconds(3_155_760_000))
        self = .nanoseconds(Int64(seconds / .nanoseconds(1)))
    }
}
