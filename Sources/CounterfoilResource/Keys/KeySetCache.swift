import CounterfoilTokens
public import Foundation

/// The keys of one issuer, kept, renewed by age, and asked for again when a token names a key that is not among them.
///
/// One request at a time goes to the issuer, whoever waits for it, and a sender of made-up tokens cannot cause more than
/// ``Policy/unknownKeyInterval`` allows. When the issuer cannot be reached, the keys at hand keep serving for a while.
public actor KeySetCache {
    /// How long keys are kept and how often they are asked for; all in seconds.
    public struct Policy: Sendable, Hashable {
        /// How long keys are fresh when the issuer does not say.
        public var lifetime: TimeInterval = 600
        /// The bounds within which the issuer's `Cache-Control` is believed.
        public var lifetimeBounds: ClosedRange<TimeInterval> = 60...3600
        /// The least time between two requests that unknown keys cause, whether they succeed or fail.
        public var unknownKeyInterval: TimeInterval = 30
        /// The least time after a failure before aged keys are asked for again.
        public var renewalInterval: TimeInterval = 30
        /// The least time after a failure before the next attempt when there are no keys to serve with.
        public var retryInterval: TimeInterval = 5
        /// How long aged keys keep serving when no newer ones can be had.
        public var staleLimit: TimeInterval = 3600

        /// The defaults.
        public init() {}
    }

    /// Keys with their age.
    struct Held {
        let keys: JSONWebKeySet
        let generation: Int
        let freshUntil: Date
        let usableUntil: Date
    }

    /// A request to the issuer that brought nothing.
    public struct Failure: Sendable, Hashable {
        /// When it began.
        public let date: Date
        /// What happened.
        public let reason: String
    }

    /// The last request to the issuer, when it failed; for a page that says how the API fares.
    public private(set) var lastFailure: Failure?

    private let source: any KeySetSource
    private let policy: Policy
    private var held: Held?
    private var lastUnknownKeyFetch: Date?
    private var flight: Task<Void, Never>?

    /// Makes an empty cache; the first token causes the first request.
    public init(source: any KeySetSource, policy: Policy = Policy()) {
        self.source = source
        self.policy = policy
    }

    /// The keys to verify with.
    func keys(at now: Date) async throws(KeySetUnavailable) -> Held {
        if let held, now < held.freshUntil { return held }
        let usable = held.map { now < $0.usableUntil } ?? false
        // While somebody else renews aged keys, nobody has to wait for it.
        if usable, flight != nil, let held { return held }
        let interval = usable ? policy.renewalInterval : policy.retryInterval
        if Self.hasPassed(interval, since: lastFailure?.date, at: now) {
            await fetchOnce(at: now)
        }
        if let held, now < held.usableUntil { return held }
        throw unavailable(at: now, retryAfter: policy.retryInterval)
    }

    /// Newer keys than those in which a token's key was not found, or nil when there are none.
    ///
    /// OpenID Connect Core §10.1.1: a key that is not known is a reason to ask again.
    func keys(after outdated: Held, at now: Date) async throws(KeySetUnavailable) -> Held? {
        if let held, held.generation != outdated.generation { return held }
        if Self.hasPassed(policy.unknownKeyInterval, since: lastUnknownKeyFetch, at: now) {
            lastUnknownKeyFetch = now
            await fetchOnce(at: now)
        } else if let flight {
            await flight.value
        }
        if let held, held.generation != outdated.generation { return held }
        // Whether the key exists cannot be told while the issuer does not answer.
        guard lastFailure == nil else { throw unavailable(at: now, retryAfter: policy.unknownKeyInterval) }
        return nil
    }

    /// Begins a request, or joins the one under way.
    ///
    /// The request belongs to the cache, not to who waits for it and may go away.
    private func fetchOnce(at now: Date) async {
        let flight = self.flight ?? Task { await fetch(at: now) }
        self.flight = flight
        await flight.value
    }

    private func fetch(at now: Date) async {
        defer { flight = nil }
        do {
            let fetched = try await source.fetch()
            let bounds = policy.lifetimeBounds
            let lifetime =
                fetched.lifetime.map { min(max($0, bounds.lowerBound), bounds.upperBound) } ?? policy.lifetime
            let freshUntil = now.addingTimeInterval(lifetime)
            held = Held(
                keys: fetched.keys,
                generation: (held?.generation ?? 0) + 1,
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
            reason: lastFailure?.reason ?? "no keys have been had yet"
        )
    }

    /// Whether an interval has passed; a clock that was set back counts as passed.
    private static func hasPassed(_ interval: TimeInterval, since date: Date?, at now: Date) -> Bool {
        date.map { abs(now.timeIntervalSince($0)) >= interval } ?? true
    }
}
