@_spi(Counterfoil) import CounterfoilProtocol
package import CounterfoilStore
package import Foundation

/// The limit of the checks and test mails for which this server connects to other hosts because an administrator asks.
package final class ServerCheckLimiter: Sendable {
    /// The maximum number of checks and mails of one user within ``window`` seconds.
    package static let limit = 6
    package static let window = 60

    private let checks = Mutex(RateLimiter<UserIdentifier>(window: TimeInterval(window)))

    /// Admits a check and returns nil, or returns the seconds until the user may retry.
    package func admit(_ user: UserIdentifier, now: Date) -> Int? {
        checks.withLock { $0.admit([.init(user, Self.limit)], at: now) }
    }
}
