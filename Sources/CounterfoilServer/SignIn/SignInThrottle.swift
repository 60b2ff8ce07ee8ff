import CounterfoilProtocol
import Crypto
import Foundation

/// The limit of successful sign-ins of one user from one source, in the memory of this process; bounded.
///
/// Failures have limits in the store (``SignInLimits``). Without a limit for successes, a script with the password of
/// one account could use the cores that verify the passwords of all users. Only a caller with the right password
/// reaches the limit, and only for its source.
final class SignInThrottle: Sendable {
    /// The length of the sliding window, in seconds.
    static let window: TimeInterval = 60

    private let signIns = Mutex(FailureLog<SHA256.Digest>())

    /// Returns the seconds to wait before the next password of a user is verified; nil if there is no need to wait.
    func wait(_ person: PersonIdentifier?, from source: CountedSource?, within limit: Int, now: Date) -> Int? {
        guard let person else { return nil }
        let waits = signIns.withLock { signIns in
            Self.keys(person, source, limit).compactMap { key -> TimeInterval? in
                let times = signIns.failures(of: key.name, since: now.addingTimeInterval(-Self.window))
                guard times.count >= key.limit, let first = times.first else { return nil }
                return first.addingTimeInterval(Self.window).timeIntervalSince(now)
            }
        }
        return waits.max().map { max(1, Int($0.rounded(.up))) }
    }

    /// Counts a successful sign-in.
    func note(_ person: PersonIdentifier, from source: CountedSource?, within limit: Int, now: Date) {
        signIns.withLock { signIns in
            for key in Self.keys(person, source, limit) {
                signIns.note(
                    key.name, at: now, since: now.addingTimeInterval(-Self.window), keep: key.limit)
            }
        }
    }

    private static func keys(
        _ person: PersonIdentifier, _ source: CountedSource?, _ limit: Int
    ) -> [(name: String, limit: Int)] {
        guard let source else { return [(person.rawValue, limit)] }
        return source.networks.map { ("\(person.rawValue) \($0.name)", $0.limit(limit)) }
    }
}
