public import Foundation

/// A network from which a user has signed in, as a keyed digest of both.
public struct EarlierNetwork: Sendable, Hashable {
    /// The maximum number of networks of one user; a further one replaces the one that was noted longest ago.
    public static let limit = 8
    /// The time for which a network is known after it was noted, in seconds: as long as the cookie of a browser.
    public static let lifetime: TimeInterval = 180 * 86_400

    /// The user.
    public let user: UserIdentifier
    /// The digest of the user and the network.
    public let digest: ArtefactDigest

    /// Creates a record.
    public init(_ digest: ArtefactDigest, of user: UserIdentifier) {
        self.user = user
        self.digest = digest
    }
}

/// The limit of failed attempts in a sliding window.
public struct AttemptLimit: Sendable, Hashable {
    /// The maximum number of failures within the window.
    public let failures: Int
    /// The length of the window, in seconds.
    public let window: TimeInterval
    /// The number of failures from which each further attempt must wait; nil if attempts wait only at the maximum.
    ///
    /// The first wait is one second. Each further failure doubles the wait, up to the length of the window.
    public let delayFromFailure: Int?

    /// Creates a limit; numbers below 1 become 1.
    public init(failures: Int, window: TimeInterval, delayFromFailure: Int? = nil) {
        self.failures = max(1, failures)
        self.window = max(1, window)
        self.delayFromFailure = delayFromFailure.map { max(1, $0) }
    }

    /// Returns the number of seconds that the next attempt must wait; 0 if it need not wait.
    ///
    /// It is never more than the window, even if failures are from before the clock was set back.
    ///
    /// - Parameters:
    ///   - times: The times of the latest failures within the window, oldest first; ``failures`` of them are enough.
    ///   - now: The time of the attempt.
    package func wait(after times: [Date], at now: Date) -> TimeInterval {
        var wait: TimeInterval = 0
        if times.count >= failures {
            wait = times[times.count - failures].addingTimeInterval(window).timeIntervalSince(now)
        }
        if let delayFromFailure, times.count >= delayFromFailure, let last = times.last {
            let doublings = min(times.count - delayFromFailure, 20)
            wait = max(wait, min(TimeInterval(1 << doublings), window) - now.timeIntervalSince(last))
        }
        return min(max(0, wait), window)
    }
}

/// A digest under which attempts are counted, and the limit of their failures.
public struct CountedKey: Sendable, Hashable {
    /// The digest of what the attempts have in common, such as a username or an IP address.
    public let digest: ArtefactDigest
    /// The limit of the failures under the digest.
    public let limit: AttemptLimit

    /// Creates a key.
    public init(_ digest: ArtefactDigest, limit: AttemptLimit) {
        self.digest = digest
        self.limit = limit
    }
}

/// An attempt to prove knowledge of a secret, such as a password, and the keys under which it counts.
public struct CountedAttempt: Sendable, Hashable {
    /// The keys whose limits the server reports to the caller.
    public let keys: [CountedKey]
    /// The keys whose limits the server does not report, because they would reveal which account a name belongs to.
    public let concealed: [CountedKey]
    /// A digest under which an attempt counts in place of a concealed key whose limit is reached.
    ///
    /// It has no effect, except that such an attempt takes the same time as any other.
    public let decoy: ArtefactDigest?

    /// Creates an attempt whose limits are all reported.
    public init(_ keys: [CountedKey]) {
        self.keys = keys
        concealed = []
        decoy = nil
    }

    /// Creates an attempt with concealed keys.
    public init(_ keys: [CountedKey], concealed: [CountedKey], decoy: ArtefactDigest) {
        self.keys = keys
        self.concealed = concealed
        self.decoy = decoy
    }

    /// All keys, whether they are reported or not.
    package var allKeys: [CountedKey] { keys + concealed }

    /// Decides whether the attempt can proceed.
    ///
    /// - Parameters:
    ///   - now: The time of the attempt.
    ///   - failures: The function that returns the times of the latest failures under a key within its window, oldest
    ///     first, at most as many as its limit.
    package func verdict(
        at now: Date, failures: (CountedKey) throws -> [Date]
    ) rethrows -> AttemptVerdict {
        let waits = try keys.map { key in (key: key, wait: key.limit.wait(after: try failures(key), at: now)) }
        if let longest = waits.max(by: { $0.wait < $1.wait }), longest.wait > 0 {
            return .tooEarly(retryAfter: Int(longest.wait.rounded(.up)), by: longest.key.digest)
        }
        let concealedWaits = try concealed.map { key in key.limit.wait(after: try failures(key), at: now) }
        return concealedWaits.contains { $0 > 0 } ? .concealed : .admitted
    }

    /// The keys under which the attempt counts as a failure after a verdict.
    package func counted(after verdict: AttemptVerdict) -> [CountedKey] {
        switch verdict {
        case .admitted: allKeys
        case .concealed:
            keys + concealed.compactMap { key in decoy.map { CountedKey($0, limit: key.limit) } }
        case .tooEarly: []
        }
    }
}

/// The decision on whether an attempt can proceed.
public enum AttemptVerdict: Sendable, Hashable {
    /// The attempt is allowed, and already counts as a failure under all its keys, until it ends otherwise.
    case admitted
    /// The limit of a concealed key is reached: the attempt must fail, and counts under the other keys.
    case concealed
    /// The limit of a key is reached; nothing was counted. `retryAfter` is the time to wait, in seconds, and `by` the
    /// digest of the key with the longest wait.
    case tooEarly(retryAfter: Int, by: ArtefactDigest)
}

/// The failed attempts to prove a secret, which all servers with this store count together.
public protocol AttemptStore: Sendable {
    /// Decides whether an attempt can proceed, and counts it as a failure in the same transaction.
    ///
    /// An attempt counts before its secret is verified, so that concurrent attempts cannot exceed a limit. An attempt
    /// that is too early needs no transaction, so that a flood of them stops no other commit.
    func admitAttempt(_ attempt: CountedAttempt, at now: Date) async throws(StoreFault) -> AttemptVerdict

    /// Changes what counts for an attempt that did not fail.
    ///
    /// - Parameters:
    ///   - forgotten: The keys whose failures are all deleted, because the secret was proved.
    ///   - withdrawn: The keys under which only this attempt is deleted.
    ///   - time: The time at which the attempt was admitted.
    func settleAttempt(
        forgetting forgotten: [ArtefactDigest], withdrawing withdrawn: [ArtefactDigest], admittedAt time: Date
    ) async throws(StoreFault)

    /// Reads when a network was last noted; nil if it was not within ``EarlierNetwork/lifetime``.
    func earlierNetworkNoted(_ digest: ArtefactDigest, at now: Date) async throws(StoreFault) -> Date?

    /// Notes a network from which a user has signed in, and deletes all but the latest ``EarlierNetwork/limit`` of the
    /// user.
    func noteEarlierNetwork(_ network: EarlierNetwork, at now: Date) async throws(StoreFault)
}
