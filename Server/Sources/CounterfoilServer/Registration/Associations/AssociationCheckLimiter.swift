@_spi(Counterfoil) import CounterfoilProtocol
package import CounterfoilStore
package import Foundation

/// The limit of the association checks that a user may start, in the memory of this process.
package final class AssociationCheckLimiter: Sendable {
    /// The maximum number of checks of one user within `window` seconds.
    package static let limit = 5
    package static let window = 60

    private let looks = Mutex(RateLimiter<UserIdentifier>(window: TimeInterval(window)))

    /// Admits a check and returns nil, or returns the seconds until the user may retry.
    package func admit(_ user: UserIdentifier, now: Date) -> Int? {
        looks.withLock { $0.admit([.init(user, Self.limit)], at: now) }
    }
}
