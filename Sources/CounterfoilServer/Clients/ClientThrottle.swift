import CounterfoilProtocol
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
    /// - Parameter source: The source; nil if all requests have the same one, for example that of a proxy.
    func noteFailure(of client: ClientIdentifier, from source: CountedSource?, now: Date) throws(TooMany) {
        let own = "\0" + client.rawValue
        let ofClient =
            source.map { Self.keys($0, Self.failuresPerClient, before: own) } ?? [(own, Self.failuresPerClient)]
        let ofSource = source.map { Self.keys($0, Self.failuresPerSource) } ?? []
        let wait = state.withLock { state in
            let wait = max(
                Self.wait(state.clients, ofClient, now: now), Self.wait(state.sources, ofSource, now: now))
            guard wait <= 0 else { return wait }
            Self.note(ofClient, in: &state.clients, now: now)
            Self.note(ofSource, in: &state.sources, now: now)
            return wait
        }
        guard wait <= 0 else { throw TooMany(retryAfter: Int(wait.rounded(.up))) }
    }

    /// Counts an access token that this server did not sign; throws ``TooMany`` instead if the source has already
    /// reached its limit.
    ///
    /// Genuine tokens are always accepted, whatever the number of forgeries from the same source. A signature
    /// cannot be guessed.
    func noteForgery(from source: CountedSource?, now: Date) throws(TooMany) {
        guard let keys = source.map({ Self.keys($0, Self.failuresPerSource) }) else { return }
        let wait = state.withLock { state in
            let wait = Self.wait(state.forgeries, keys, now: now)
            if wait <= 0 { Self.note(keys, in: &state.forgeries, now: now) }
            return wait
        }
        guard wait <= 0 else { throw TooMany(retryAfter: Int(wait.rounded(.up))) }
    }

    /// The names under which a failure counts, with their limits.
    private typealias Keys = [(name: String, limit: Int)]

    private static func keys(_ source: CountedSource, _ perSource: Int, before suffix: String = "") -> Keys {
        source.networks.map { ($0.name + suffix, $0.limit(perSource)) }
    }

    private static func wait(_ log: FailureLog<SHA256.Digest>, _ keys: Keys, now: Date) -> TimeInterval {
        keys.reduce(0) { wait, key in
            let failures = log.failures(of: key.name, since: now.addingTimeInterval(-window))
            guard failures.count >= key.limit else { return wait }
            return max(
                wait, failures[failures.count - key.limit].addingTimeInterval(window).timeIntervalSince(now))
        }
    }

    private static func note(_ keys: Keys, in log: inout FailureLog<SHA256.Digest>, now: Date) {
        for key in keys {
            log.note(key.name, at: now, since: now.addingTimeInterval(-window), keep: key.limit)
        }
    }
}
