@_spi(Counterfoil) import CounterfoilProtocol
package import CounterfoilStore
package import Foundation

/// The limit of the questions of a user to other users whether to manage a client, in the memory of this process.
package final class DeveloperQuestionLimiter: Sendable {
    /// The maximum number of questions of one user within ``window`` seconds.
    package static let limit = 20
    package static let window = 3600

    private let questions = Mutex(RateLimiter<UserIdentifier>(window: TimeInterval(window)))

    /// Admits a question and returns nil, or returns the seconds until the user may retry.
    package func admit(_ user: UserIdentifier, now: Date) -> Int? {
        questions.withLock { $0.admit([.init(user, Self.limit)], at: now) }
    }
}
