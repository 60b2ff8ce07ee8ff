import CounterfoilProtocol
import Synchronization

/// The one answer that is waited for: who may give it, and who gets it.
final class CallbackWait: Sendable {
    /// What becomes of a callback.
    enum Decision: Sendable {
        /// It is the answer; after the browser has its page, ``CallbackWait/deliver(_:)`` ends the wait.
        case accepted(CallbackExpectation.Answer)
        /// It is not the answer to what is waited for.
        case stranger
        /// The answer is there already.
        case over
    }

    private enum Phase {
        case unarmed
        case waiting(CallbackExpectation)
        case over
    }

    private let phase = Mutex(Phase.unarmed)
    private let answers: AsyncStream<Result<AuthorizationCallback, SignInError>>
    private let answer: AsyncStream<Result<AuthorizationCallback, SignInError>>.Continuation

    init() {
        (answers, answer) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1))
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
            case .over: return .over
            case .waiting(let expectation):
                switch expectation.verdict(on: callback) {
                case .stranger: return .stranger
                case .answer(let answer):
                    phase = .over
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
            phase = .over
            return true
        }
        guard isFirst else { return }
        answer.yield(.failure(error))
        answer.finish()
    }

    func callback() async throws(SignInError) -> AuthorizationCallback {
        for await result in answers {
            return try result.get()
        }
        throw .cancelled
    }
}
