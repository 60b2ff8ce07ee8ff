import CounterfoilTokens
public import Foundation

/// A cache of the keys of one issuer.
///
/// Keys are fetched again when they are stale, and when a token refers to an unknown key. At most one
/// request is in progress, and concurrent callers share it. Forged tokens cannot cause more requests than
/// ``Policy/unknownKeyInterval`` allows. While the issuer is unavailable, stale keys stay in use for
/// ``Policy/staleLimit``.
public actor KeySetCache {
    /// The cache lifetimes and the request intervals, in seconds.
    public struct Policy: Sendable, Hashable {
        /// The time for which keys are fresh if the issuer states no cache lifetime.
        public var lifetime: TimeInterval = 600
        /// The range to which a cache lifetime in the `Cache-Control` field of the issuer is limited.
        public var lifetimeBounds: ClosedRange<TimeInterval> = 60...3600
        /// The minimum time between two requests, successful or not, that are caused by tokens with unknown keys.
        public var unknownKeyInterval: TimeInterval = 30
        /// The minimum time between a failed request and the next attempt to renew stale keys.
        public var renewalInterval: TimeInterval = 30
        /// The minimum time between a failed request and the next attempt if no usable keys are cached.
        public var retryInterval: TimeInterval = 5
        /// The time for which keys stay in use after they have become stale, if they cannot be renewed.
        public var staleLimit: TimeInterval = 3600

        /// Creates a policy with the default lifetimes and intervals.
        public init() {}
    }

    /// The keys of one fetch, with the times until which they are fresh and usable.
    ///
    /// Each successful fetch increments the generation.
    struct CachedKeys {
        let keys: JSONWebKeySet
        let generation: Int
        let freshUntil: Date
        let usableUntil: Date
    }

    /// A failed request to the issuer.
    public struct Failure: Sendable, Hashable {
        /// The time at which the request started.
        public let date: Date
        /// The description of the error that the key set source threw.
        public let reason: String
    }

    /// The failure of the last request; nil if it succeeded, or if no request has completed.
    ///
    /// Use it for health checks.
    public private(set) var lastFailure: Failure?

    private let source: any KeySetSource
    private let policy: Policy
    private var cached: CachedKeys?
    private var lastUnknownKeyFetch: Date?
    private var request: Task<Void, Never>?

    /// Creates an empty cache.
    ///
    /// The keys are fetched when the first token is verified.
    public init(source: any KeySetSource, policy: Policy = Policy()) {
        self.source = source
        self.policy = policy
    }

    /// Returns the cached keys, after an attempt to fetch them if they are missing or stale.
    func keys(at now: Date) async throws(KeySetUnavailable) -> CachedKeys {
        if let cached, now < cached.freshUntil { return cached }
        let usable = cached.map { now < $0.usableUntil } ?? false
        // If another task already renews the stale keys, this call returns them without waiting.
        if usable, request != nil, let cached { return cached }
        let interval = usable ? policy.renewalInterval : policy.retryInterval
        if Self.hasPassed(interval, since: lastFailure?.date, at: now) {
            await fetchOnce(at: now)
        }
        if let cached, now < cached.usableUntil { return cached }
        throw unavailable(at: now, retryAfter: policy.retryInterval)
    }

    /// Returns keys that are newer than `outdated`, the key set that lacks the key of a token; nil if there are none.
    ///
    /// OpenID Connect Core §10.1.1: an unknown key is a reason to fetch the keys again.
    func keys(after outdated: CachedKeys, at now: Date) async throws(KeySetUnavailable) -> CachedKeys? {
        if let cached, cached.generation != outdated.generation { return cached }
        if Self.hasPassed(policy.unknownKeyInterval, since: lastUnknownKeyFetch, at: now) {
            lastUnknownKeyFetch = now
            await fetchOnce(at: now)
        } else if let request {
            await request.value
        }
        if let cached, cached.generation != outdated.generation { return cached }
        // The last request failed, so it is unknown whether the issuer has the key.
        guard lastFailure == nil else { throw unavailable(at: now, retryAfter: policy.unknownKeyInterval) }
        return nil
    }

    /// Waits for the request in progress, or starts a request and waits for it.
    ///
    /// The task is independent of the callers that wait for it, so it continues if one of them is cancelled.
    private func fetchOnce(at now: Date) async {
        let request = self.request ?? Task { await fetch(at: now) }
        self.request = request
        await request.value
    }

    private func fetch(at now: Date) async {
        defer { request = nil }
        do {
            let fetched = try await source.fetch()
            let bounds = policy.lifetimeBounds
            let lifetime =
                fetched.lifetime.map { min(max($0, bounds.lowerBound), bounds.upperBound) } ?? policy.lifetime
            let freshUntil = now.addingTimeInterval(lifetime)
            cached = CachedKeys(
                keys: fetched.keys,
                generation: (cached?.generation ?? 0) + 1,
                freshUntil: freshUntil,
                usableUntil: freshUntil.addingTimeInterval(policy.staleLimit)
            )
            lastFailure = nil
        } catch {
            lastFailure = Failure(date: now, reason: "\(error)")
        }
    }

    private func unavailable(at now: Date, retryAfter interval: TimeInterval) -> KeySetUnavailable {
        let passed = lastFailure.map { max(0, now.timeIntervalSince($0.date)) } ?? 0
        return KeySetUnavailable(
            retryAfter: max(1, Int((interval - passed).rounded(.up))),
            reason: lastFailure?.reason ?? "no keys have been fetched yet"
        )
    }

    /// Returns true if `date` and `now` differ by at least `interval`, in either direction, or if `date` is nil.
    ///
    /// Because of the comparison in both directions, a wall clock that was set back cannot block a fetch for long.
    private static func hasPassed(_ interval: TimeInterval, since date: Date?, at now: Date) -> Bool {
        date.map { abs(now.timeIntervalSince($0)) >= interval } ?? true
    }
}
