import CounterfoilProtocol
import NIOCore
import NIOPosix
import Synchronization

/// The one answer that is waited for: who may give it, and who gets it.
final class CallbackWait: Sendable {
    /// What becomes of a callback.
    enum Decision: Sendable {
        /// It is the answer; after the browser has its page, ``CallbackWait/deliver(_:)`` ends the wait.
        case accepted(CallbackExpectation.Answer)
        /// It is not the answer to what is waited for.
        case stranger
        /// Nobody waits any more.
        case over(End)
    }

    /// How a wait came to its end.
    enum End: Sendable, Hashable {
        /// The answer is there.
        case answered
        /// The time is over, the task was cancelled, or the receiver was closed.
        case givenUp
    }

    private enum Phase {
        case unarmed
        case waiting(CallbackExpectation)
        case over(End)
    }

    private let phase = Mutex(Phase.unarmed)
    private let answers: AsyncStream<Result<AuthorizationCallback, SignInError>>
    private let answer: AsyncStream<Result<AuthorizationCallback, SignInError>>.Continuation

    init() {
        (answers, answer) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1))
    }

    /// How the wait ended; nil while it goes on.
    var end: End? {
        phase.withLock { phase in
            if case .over(let end) = phase { end } else { nil }
        }
    }

    func expect(_ expectation: CallbackExpectation) {
        phase.withLock { phase in
            if case .unarmed = phase { phase = .waiting(expectation) }
        }
    }

    /// Judges a callback; only one is ever accepted, however many arrive at once.
    func decide(on callback: AuthorizationCallback) -> Decision {
        phase.withLock { phase in
            switch phase {
            case .unarmed: return .stranger
            case .over(let end): return .over(end)
            case .waiting(let expectation):
                switch expectation.verdict(on: callback) {
                case .stranger: return .stranger
                case .answer(let answer):
                    phase = .over(.answered)
                    return .accepted(answer)
                }
            }
        }
    }

    func deliver(_ callback: AuthorizationCallback) {
        answer.yield(.success(callback))
        answer.finish()
    }

    /// Ends the wait without an answer, unless one is there already or on its way to its page.
    func end(with error: SignInError) {
        let isFirst = phase.withLock { phase in
            if case .over = phase { return false }
            phase = .over(.givenUp)
            return true
        }
        guard isFirst else { return }
        answer.yield(.failure(error))
        answer.finish()
    }

    /// The answer, or why there is none: the time is over, or the task that waits was cancelled.
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

    /// The answer; a receiver that gets none is closed before anybody hears why.
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
    /// A duration of a timer, cut to what one can count: from nothing to a century.
    init(atMost duration: Duration) {
        let seconds = min(max(duration, .zero), .seconds(3_155_760_000))
        self = .nanoseconds(Int64(seconds / .nanoseconds(1)))
    }
}
