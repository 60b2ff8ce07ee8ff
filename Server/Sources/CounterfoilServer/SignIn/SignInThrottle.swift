@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilStore
import Foundation

/// The limit of successful sign-ins of one user from one source, in the memory of this process; bounded.
///
/// Failures have limits in the store (``SignInLimits``). Without a limit for successes, a script with the password of
/// one account could use the cores that verify the passwords of all users. Only a caller with the right password
/// reaches the limit, and only for its source.
final class SignInThrottle: Sendable {
    /// The length of the sliding window, in seconds.
    static let window: TimeInterval = 60

    private struct Key: Hashable {
        let user: UserIdentifier
        let network: String?
    }

    private typealias Limiter = RateLimiter<Key>

    private let signIns = Mutex(Limiter(window: window))

    /// Returns the seconds to wait before the next password of a user is verified; nil if there is no need to wait.
    func wait(_ user: UserIdentifier?, from source: CountedSource?, within limit: Int, now: Date) -> Int? {
        guard let user else { return nil }
        return signIns.withLock { $0.wait(Self.limits(user, source, limit), at: now) }
    }

    /// Counts a successful sign-in.
    func note(_ user: UserIdentifier, from source: CountedSource?, within limit: Int, now: Date) {
        signIns.withLock { $0.note(Self.limits(user, source, limit), at: now) }
    }

    private static func limits(
        _ user: UserIdentifier, _ source: CountedSource?, _ limit: Int
    ) -> [Limiter.Limit] {
        guard source != nil else { return [.init(Key(user: user, network: nil), limit)] }
        return Limiter.limits(of: source, limit) { Key(user: user, network: $0.name) }
    }
}
