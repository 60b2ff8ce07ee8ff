@_spi(Counterfoil) import CounterfoilProtocol
import Foundation

/// An append to the endings journal whose caller waits for a limited time.
final class PendingAppend: Sendable {
    typealias Outcome = Result<JournalFile.Outcome, JournalFailure>

    private enum State: Sendable {
        case queued(CheckedContinuation<Outcome, Never>)
        case running(CheckedContinuation<Outcome, Never>)
        case ended
        /// The caller has stopped waiting.
        case givenUp
    }

    private let state: Mutex<State>

    init(_ continuation: CheckedContinuation<Outcome, Never>) { state = Mutex(.queued(continuation)) }

    /// Notes that the append begins; returns false if its caller has stopped waiting.
    func begin() -> Bool {
        state.withLock { state in
            guard case .queued(let continuation) = state else { return false }
            state = .running(continuation)
            return true
        }
    }

    /// Gives the outcome to the caller; returns false if it has stopped waiting.
    func end(with outcome: Outcome) -> Bool {
        let caller: CheckedContinuation<Outcome, Never>? = state.withLock { state in
            guard case .running(let continuation) = state else { return nil }
            state = .ended
            return continuation
        }
        caller?.resume(returning: outcome)
        return caller != nil
    }

    /// Gives a failure to a caller that still waits.
    ///
    /// - Parameters:
    ///   - failure: The failure.
    ///   - note: The function that runs first if the append is in progress, and before ``end(with:)`` can return false.
    func giveUp(with failure: JournalFailure, noting note: () -> Void) {
        let caller: CheckedContinuation<Outcome, Never>? = state.withLock { state in
            switch state {
            case .queued(let continuation):
                state = .givenUp
                return continuation
            case .running(let continuation):
                note()
                state = .givenUp
                return continuation
            case .ended, .givenUp: return nil
            }
        }
        caller?.resume(returning: .failure(failure))
    }
}
