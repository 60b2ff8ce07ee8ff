@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilStore
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

    private enum Key: Hashable {
        case all(hasToken: Bool)
        case network(String)
    }

    private let registrations = Mutex(RateLimiter<Key>(window: window))

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
        let wait = registrations.withLock {
            $0.admit(
                within: limit, from: hasToken ? nil : source, all: .all(hasToken: hasToken),
                of: { .network($0.name) }, at: now)
        }
        if let wait { throw TooMany(retryAfter: wait) }
    }
}
