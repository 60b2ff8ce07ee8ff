@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import Foundation

/// The limit of the association checks that a user may start, in the memory of this process.
final class AssociationCheckLimiter: Sendable {
    /// The maximum number of checks of one user within `window` seconds.
    static let limit = 5
    static let window = 60

    private let looks = Mutex(RateLimiter<PersonIdentifier>(window: TimeInterval(window)))

    /// Admits a check and returns nil, or returns the seconds until the user may retry.
    func admit(_ person: PersonIdentifier, now: Date) -> Int? {
        looks.withLock { $0.admit([.init(person, Self.limit)], at: now) }
    }
}
