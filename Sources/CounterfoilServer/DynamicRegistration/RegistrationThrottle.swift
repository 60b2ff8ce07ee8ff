import CounterfoilProtocol
import Crypto
import Foundation
import HTTPTypes

/// The counts of registrations and of their changes within an hour: from one source, and in all; bounded in memory.
///
/// The limits together with ``RegistrationEndpoint/unusedLimit`` bound the store and the audit log.
///
/// Requests with an initial access token count separately and without regard to their source, so that strangers
/// cannot block a developer who has one.
final class RegistrationThrottle: Sendable {
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
    ///   - source: The source; nil if all requests have the same one, for example that of a proxy.
    ///   - hasToken: Whether the request has a valid initial access token.
    ///   - limit: The limit of requests without a token; those with a token have the same total again.
    func note(
        from source: CountedSource?, hasToken: Bool, within limit: SharedLimit, now: Date
    ) throws(TooMany) {
        let start = now.addingTimeInterval(-Self.window)
        let source = hasToken ? nil : source
        let total = hasToken ? "with a token" : "without a token"
        let reached = state.withLock { state -> SharedLimit.Count<Date>? in
            let reached = limit.reached(by: source) {
                Self.count(state.totals.failures(of: total, since: start))
            } of: { network in
                Self.count(state.sources.failures(of: network.name, since: start))
            }
            if let reached { return reached }
            state.totals.note(total, at: now, since: start, keep: limit.total)
            for network in source?.networks ?? [] {
                state.sources.note(network.name, at: now, since: start, keep: limit.total)
            }
            return nil
        }
        guard let reached else { return }
        let wait = (reached.first ?? now).addingTimeInterval(Self.window).timeIntervalSince(now)
        throw TooMany(retryAfter: max(1, Int(wait.rounded(.up))))
    }

    private static func count(_ times: [Date]) -> SharedLimit.Count<Date> {
        SharedLimit.Count(times.count, first: times.first)
    }
}
