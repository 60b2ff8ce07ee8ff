import CounterfoilProtocol
import Crypto
import Foundation
import HTTPTypes

/// The limits of registrations and of their changes within an hour: from one IP address, and in all; bounded in memory.
///
/// Both limits together with ``RegistrationEndpoint/unusedLimit`` bound the store and the audit log. One IP address
/// alone cannot fill the unused clients within the week after which they are deleted.
///
/// Requests with an initial access token count separately and without regard to their IP address, so that strangers
/// cannot block a developer who has one.
final class RegistrationThrottle: Sendable {
    /// The maximum number of registrations and changes from one IP address within the window.
    static let limitPerSource = 50
    /// The maximum number of registrations and changes within the window; those with a token have the same limit again.
    static let limit = 1000
    /// The length of the sliding window, in seconds.
    static let window: TimeInterval = 3600

    private struct State {
        var sources = FailureLog<SHA256.Digest>()
        var totals = FailureLog<SHA256.Digest>()
    }

    private let state = Mutex(State())

    /// The error for a registration or a change beyond the limits: 429 with `Retry-After`.
    struct TooMany: Refusing {
        let retryAfter: Int

        var refusal: Refusal {
            Refusal(
                .tooManyRequests, .temporarilyUnavailable, .tooBusy,
                description: "too many registrations; try again in \(retryAfter) seconds", retryAfter: retryAfter)
        }
    }

    /// Counts a registration or a change; throws ``TooMany`` instead if a limit has already been reached.
    ///
    /// - Parameters:
    ///   - source: The IP address; nil if all requests have the same one, for example that of a proxy.
    ///   - hasToken: Whether the request has a valid initial access token.
    func note(from source: String?, hasToken: Bool, now: Date) throws(TooMany) {
        let start = now.addingTimeInterval(-Self.window)
        let source = hasToken ? nil : source
        let total = hasToken ? "with a token" : "without a token"
        let wait = state.withLock { state in
            let wait = max(
                Self.wait(state.totals.failures(of: total, since: start), limit: Self.limit, now: now),
                Self.wait(
                    source.map { state.sources.failures(of: $0, since: start) } ?? [], limit: Self.limitPerSource,
                    now: now))
            guard wait <= 0 else { return wait }
            state.totals.note(total, at: now, since: start, keep: Self.limit)
            if let source { state.sources.note(source, at: now, since: start, keep: Self.limitPerSource) }
            return wait
        }
        guard wait <= 0 else { throw TooMany(retryAfter: max(1, Int(wait.rounded(.up)))) }
    }

    private static func wait(_ times: [Date], limit: Int, now: Date) -> TimeInterval {
        guard times.count >= limit else { return 0 }
        return max(0, times[times.count - limit].addingTimeInterval(window).timeIntervalSince(now))
    }
}
