import CounterfoilProtocol
import Foundation
import HTTPTypes
import Synchronization

/// Counts how often applications and APIs have failed to authenticate lately, and what was shown as a token and is none, by address;
/// bounded in memory.
///
/// RFC 6749 §2.3.1. What is counted is one application at one address, and the address alone: whoever guesses elsewhere keeps no
/// application from signing its people in. A secret has 256 random bits, so what is kept small is the noise, and a minute of it
/// is enough: an application whose secret was mended goes on soon.
final class ClientThrottle: Sendable {
    /// How many failures one application may have at one address within the window.
    static let failuresPerClient = 50
    /// How many failures there may be at one address within the window, whichever name is tried.
    static let failuresPerSource = 200
    /// The window, in seconds.
    static let window: TimeInterval = 60

    private struct State {
        var clients = FailureLog()
        var sources = FailureLog()
        var forgeries = FailureLog()
    }

    private let state = Mutex(State())

    /// There were so many failures that the next one is told nothing but to wait.
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

    /// Counts a try that was wrong, or throws ``TooMany`` where there were too many before.
    ///
    /// - Parameter source: the address; nil where every request comes from the same one, so that it says nothing.
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

    /// Counts something that was shown as an access token and that nobody here has signed; throws ``TooMany`` where there were too
    /// many at the address.
    ///
    /// What is genuine is looked at whatever others show at the same address: a signature cannot be guessed.
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
