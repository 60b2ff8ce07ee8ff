import CounterfoilProtocol
import Foundation

/// The rate limits of wrong user codes, by user and by IP address (RFC 8628 §5.1); bounded in memory.
///
/// A wrong code invalidates no pending code, so that a stranger's guesses cannot disturb the sign-in of another user.
/// Only signed-in users can try codes. With five tries and at most ``DeviceAuthorizationEndpoint/limit`` pending codes,
/// the probability that a user hits a pending code is below 1 in 250,000.
final class UserCodeThrottle: Sendable {
    /// The maximum number of wrong codes of one user within the window.
    static let failuresPerPerson = 5
    /// The maximum number of wrong codes from one IP address within the window.
    static let failuresPerSource = 50
    /// The length of the sliding window, in seconds.
    static let window: TimeInterval = 600

    private struct State {
        var people = FailureLog()
        var sources = FailureLog()
    }

    private let state = Mutex(State())

    /// The error after too many wrong codes.
    struct TooMany: Error {
        /// The time to wait, in seconds.
        let retryAfter: Int
    }

    /// Counts a typed code as wrong before it is looked up, so that concurrent requests cannot exceed a limit.
    ///
    /// - Parameters:
    ///   - person: The signed-in user.
    ///   - source: The IP address; nil if all requests have the same one, for example that of a proxy.
    ///   - now: The time of the request.
    /// - Throws: ``TooMany`` if a limit has already been reached; the code must not be looked up then.
    func admit(_ person: PersonIdentifier, from source: String?, now: Date) throws(TooMany) {
        let start = now.addingTimeInterval(-Self.window)
        let wait = state.withLock { state in
            let wait = max(
                Self.wait(
                    state.people.failures(of: person.rawValue, since: start), limit: Self.failuresPerPerson, now: now),
                Self.wait(
                    source.map { state.sources.failures(of: $0, since: start) } ?? [], limit: Self.failuresPerSource,
                    now: now))
            guard wait <= 0 else { return wait }
            state.people.note(person.rawValue, at: now, since: start, keep: Self.failuresPerPerson)
            if let source { state.sources.note(source, at: now, since: start, keep: Self.failuresPerSource) }
            return wait
        }
        guard wait <= 0 else { throw TooMany(retryAfter: Int(wait.rounded(.up))) }
    }

    /// Removes a code from the count, because it was right or was not looked up.
    func withdraw(_ person: PersonIdentifier, from source: String?, admittedAt time: Date) {
        state.withLock { state in
            state.people.withdraw(person.rawValue, at: time)
            if let source { state.sources.withdraw(source, at: time) }
        }
    }

    private static func wait(_ failures: [Date], limit: Int, now: Date) -> TimeInterval {
        guard failures.count >= limit else { return 0 }
        return max(0, failures[failures.count - limit].addingTimeInterval(window).timeIntervalSince(now))
    }
}
