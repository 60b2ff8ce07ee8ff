import CounterfoilProtocol
import CounterfoilStore
import Foundation

/// The rate limits of wrong user codes, by user and by IP address (RFC 8628 §5.1).
///
/// A wrong code invalidates no pending code, so that a stranger's guesses cannot disturb the sign-in of another user.
/// Only signed-in users can try codes. With five tries and at most ``DeviceAuthorizationEndpoint/limit`` pending codes,
/// the probability that a user hits a pending code is below 1 in 250,000.
struct UserCodeThrottle: Sendable {
    /// The maximum number of wrong codes of one user within the window.
    static let failuresPerUser = 5
    /// The maximum number of wrong codes from one IP address within the window.
    static let failuresPerSource = 50
    /// The length of the sliding window, in seconds.
    static let window: TimeInterval = 600

    let attempts: AttemptCounter

    /// The error after too many wrong codes.
    struct TooMany: Error {
        /// The time to wait, in seconds.
        let retryAfter: Int
        /// Whether the limit of the user is reached, and not that of the source.
        let isOfUser: Bool
    }

    /// Counts a typed code as wrong before it is looked up, so that concurrent requests cannot exceed a limit.
    ///
    /// - Parameters:
    ///   - user: The signed-in user.
    ///   - source: The source; nil if all requests have the same one, for example that of a proxy.
    ///   - now: The time of the request.
    /// - Throws: ``TooMany`` if a limit has already been reached; the code must not be looked up then.
    func admit(_ user: UserIdentifier, from source: CountedSource?, now: Date) async throws(TooMany) {
        let attempt = attempt(user, source)
        if case .tooEarly(let seconds, let key) = await attempts.admit(attempt, now: now) {
            throw TooMany(retryAfter: seconds, isOfUser: key == attempt.keys.first?.digest)
        }
    }

    /// Removes a code from the count, because it was right or was not looked up.
    func withdraw(_ user: UserIdentifier, from source: CountedSource?, admittedAt time: Date) async {
        await attempts.withdraw(attempt(user, source).keys, admittedAt: time)
    }

    private func attempt(_ user: UserIdentifier, _ source: CountedSource?) -> CountedAttempt {
        let ofUser = CountedKey(
            attempts.keys.digest(of: user.rawValue, as: .userCodesOfUser),
            limit: AttemptLimit(failures: Self.failuresPerUser, window: Self.window))
        guard let source else { return CountedAttempt([ofUser]) }
        let ofSource = source.networks.map { network in
            CountedKey(
                attempts.keys.digest(of: network.name, as: .userCodeSource),
                limit: AttemptLimit(failures: network.limit(Self.failuresPerSource), window: Self.window))
        }
        return CountedAttempt([ofUser] + ofSource)
    }
}
