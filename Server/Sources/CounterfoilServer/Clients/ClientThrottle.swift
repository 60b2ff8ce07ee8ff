@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilStore
import Crypto
import Foundation
import HTTPTypes

/// The rate limits of failed client authentications and of forged access tokens, by IP address (RFC 6749 §2.3.1);
/// bounded in memory.
///
/// Failed authentications count for the pair of client and source, and for the source alone. Failures from one
/// source therefore never lock a client out at another source.
///
/// A secret has 256 random bits, so the limits only reduce load and log volume. The window is short, so that a client
/// with a corrected secret can soon continue.
final class ClientThrottle: Sendable {
    /// The maximum number of failures of one client from one IP address within the window.
    static let failuresPerClient = 50
    /// The maximum number of failures of all clients together from one IP address within the window.
    static let failuresPerSource = 200
    /// The length of the sliding window, in seconds.
    static let window: TimeInterval = 60

    private enum Key: Hashable {
        /// The digest of an identifier of any length, and the name of a network.
        case client(SHA256.Digest, String?)
        case source(String)
        case forgeries(String)
    }

    private typealias Limiter = RateLimiter<Key>

    private let failures = Mutex(Limiter(window: window))

    /// The error after too many failures; the response says only when to retry.
    struct TooMany: Refusing {
        let retryAfter: Int

        init(retryAfter: Int) { self.retryAfter = retryAfter }

        var refusal: Refusal {
            Refusal(
                .tooManyRequests, .temporarilyUnavailable, .tooBusy,
                description: "too many failed authentications from this address; try again in \(retryAfter) seconds",
                retryAfter: retryAfter)
        }
    }

    /// Counts a failed authentication; throws ``TooMany`` instead if a limit has already been reached.
    ///
    /// - Parameter source: The source; nil if all requests have the same one, for example that of a proxy.
    func noteFailure(of client: ClientIdentifier, from source: CountedSource?, now: Date) throws(TooMany) {
        let client = SHA256.hash(data: Array(client.rawValue.utf8))
        var limits = Limiter.limits(of: source, Self.failuresPerClient) { .client(client, $0.name) }
        if source == nil { limits = [.init(.client(client, nil), Self.failuresPerClient)] }
        try note(limits + Limiter.limits(of: source, Self.failuresPerSource) { .source($0.name) }, now: now)
    }

    /// Counts an access token that this server did not sign; throws ``TooMany`` instead if the source has already
    /// reached its limit.
    ///
    /// Genuine tokens are always accepted, whatever the number of forgeries from the same source. A signature
    /// cannot be guessed.
    func noteForgery(from source: CountedSource?, now: Date) throws(TooMany) {
        try note(Limiter.limits(of: source, Self.failuresPerSource) { .forgeries($0.name) }, now: now)
    }

    private func note(_ limits: [Limiter.Limit], now: Date) throws(TooMany) {
        let wait = failures.withLock { $0.admit(limits, at: now) }
        if let wait { throw TooMany(retryAfter: wait) }
    }
}
