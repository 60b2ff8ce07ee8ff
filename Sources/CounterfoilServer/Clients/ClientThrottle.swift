import CounterfoilProtocol
import Crypto
import Foundation
import HTTPTypes

/// The rate limits of failed client authentications and of forged access tokens, by IP address (RFC 6749 §2.3.1);
/// bounded in memory.
///
/// Failed authentications count for the pair of client and IP address, and for the IP address alone. Failures from one
/// IP address therefore never lock a client out at another IP address.
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

    private struct State {
        var clients = FailureLog<SHA256.Digest>()
        var sources = FailureLog<SHA256.Digest>()
        var forgeries = FailureLog<SHA256.Digest>()
    }

    private let state = Mutex(State())

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
    /// - Parameter source: The IP address; nil if all requests have the same one, for example that of a proxy.
    func noteFailure(of client: ClientIdentifier, from source: String?, now: Date) throws(TooMany) {
        let (start, name) = (now.addingTimeInterval(-Self.window), Self.name(client, source))
        let wait = state.withLock { state in
            let wait = max(
                Self.wait(state.clients.failures(of: name, since: start), limit: Self.failuresPerClient, now: now),
                Self.wait(
                    source.map { state.sources.failures(of: $0, since: start) } ?? [], limit: Self.failuresPerSource,
                    now: now))
            guard wait <= 0 else { return wait }
            state.clients.note(name, at: now, since: start, keep: Self.failuresPerClient)
            if let source { state.sources.note(source, at: now, since: start, keep: Self.failuresPerSource) }
            return wait
        }
        guard wait <= 0 else { throw TooMany(retryAfter: Int(wait.rounded(.up))) }
    }

    /// Counts an access token that this server did not sign; throws ``TooMany`` instead if the IP address has already
    /// reached its limit.
    ///
    /// Genuine tokens are always accepted, whatever the number of forgeries from the same IP address. A signature
    /// cannot be guessed.
    func noteForgery(from source: String?, now: Date) throws(TooMany) {
        guard let source else { return }
        let start = now.addingTimeInterval(-Self.window)
        let wait = state.withLock { state in
            let wait = Self.wait(
                state.forgeries.failures(of: source, since: start), limit: Self.failuresPerSource, now: now)
            if wait <= 0 { state.forgeries.note(source, at: now, since: start, keep: Self.failuresPerSource) }
            return wait
        }
        guard wait <= 0 else { throw TooMany(retryAfter: Int(wait.rounded(.up))) }
    }

    private static func name(_ client: ClientIdentifier, _ source: String?) -> String {
        (source ?? "") + "\0" + client.rawValue
    }

    private static func wait(_ failures: [Date], limit: Int, now: Date) -> TimeInterval {
        guard failures.count >= limit else { return 0 }
        return max(0, failures[failures.count - limit].addingTimeInterval(window).timeIntervalSince(now))
    }
}
