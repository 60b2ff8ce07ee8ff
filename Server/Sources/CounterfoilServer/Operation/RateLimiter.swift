import CounterfoilStore
package import Foundation

/// The events of the last seconds under each key, and the limits of their number, in the memory of one process;
/// bounded.
///
/// Every limit that a process keeps for itself is one of these, with one rule: an event counts under several keys, and
/// is admitted if each of them has had fewer events than its limit within the window that ends now. The limits are
/// exact only if a single process serves the store. Those that protect a secret are therefore counted in the store.
package struct RateLimiter<Key: Hashable & Sendable>: Sendable {
    /// The maximum number of events under a key within the window.
    package struct Limit: Sendable {
        let key: Key
        let number: Int

        package init(_ key: Key, _ number: Int) {
            self.key = key
            self.number = max(1, number)
        }
    }

    /// The maximum number of keys; a full limiter drops those whose last event is the oldest.
    private static var capacity: Int { 100_000 }

    /// The length of the window, in seconds.
    private let window: TimeInterval
    private var times: [Key: [Date]] = [:]
    private var sweptAt = Date.distantPast

    package init(window: TimeInterval) { self.window = window }

    /// Counts an event, unless a limit is reached; returns the seconds until it can be admitted, or nil if it was.
    package mutating func admit(_ limits: [Limit], at now: Date) -> Int? {
        if let wait = wait(limits, at: now) { return wait }
        note(limits, at: now)
        return nil
    }

    /// Returns the seconds, at least 1, until an event can be admitted; nil if no limit is reached.
    func wait(_ limits: [Limit], at now: Date) -> Int? {
        limits.compactMap { limit in
            let times = events(under: limit.key, at: now)
            return times.count < limit.number ? nil : seconds(until: times[times.count - limit.number], at: now)
        }.max()
    }

    /// Counts an event under each key; at most as many as its limit are kept.
    mutating func note(_ limits: [Limit], at now: Date) {
        if sweptAt < now - window || now < sweptAt - window { removeExpired(at: now) }
        for limit in limits {
            if times.count >= Self.capacity, times[limit.key] == nil { makeRoom(at: now) }
            times[limit.key] = Array((events(under: limit.key, at: now) + [now]).suffix(limit.number))
        }
    }

    /// Returns the times of the events within the window, in the order in which they were counted.
    ///
    /// Times that are later by more than a window are from before the clock was set back.
    func events(under key: Key, at now: Date) -> [Date] {
        (times[key] ?? []).filter { now - window < $0 && $0 <= now + window }
    }

    /// Removes one event, because it should not have counted.
    mutating func withdraw(_ key: Key, at time: Date) {
        guard let index = times[key]?.lastIndex(of: time) else { return }
        times[key]?.remove(at: index)
        if times[key]?.isEmpty == true { times[key] = nil }
    }

    /// Removes the events under a key.
    mutating func forget(_ key: Key) { times[key] = nil }

    private func seconds(until event: Date, at now: Date) -> Int {
        max(1, Int((event + window).timeIntervalSince(now).rounded(.up)))
    }

    private mutating func removeExpired(at now: Date) {
        sweptAt = now
        times = times.filter { !events(under: $0.key, at: now).isEmpty }
    }

    private mutating func makeRoom(at now: Date) {
        removeExpired(at: now)
        guard times.count >= Self.capacity else { return }
        let oldest = times.sorted { ($0.value.last ?? .distantPast) < ($1.value.last ?? .distantPast) }
        for entry in oldest.prefix(Self.capacity / 10) { times[entry.key] = nil }
    }
}

extension RateLimiter {
    /// Returns the limits of the networks of a source, which grow with their width; none without a source.
    static func limits(
        of source: CountedSource?, _ perSource: Int, key: (CountedSource.Network) -> Key
    ) -> [Limit] {
        (source?.networks ?? []).map { Limit(key($0), $0.limit(perSource)) }
    }

    /// Counts an event within a limit that all sources share; returns the seconds to wait if the source gets no more.
    ///
    /// - Parameters:
    ///   - source: The source; nil if all requests have the same one, for example that of a proxy.
    ///   - all: The key of the events of all sources.
    ///   - part: The function that returns the key of a network.
    mutating func admit(
        within shared: SharedLimit, from source: CountedSource?, all: Key, of part: (CountedSource.Network) -> Key,
        at now: Date
    ) -> Int? {
        if let wait = wait(within: shared, from: source, all: all, of: part, at: now) { return wait }
        note(within: shared, from: source, all: all, of: part, at: now)
        return nil
    }

    /// Counts an event of a source under its networks and among those of all sources.
    mutating func note(
        within shared: SharedLimit, from source: CountedSource?, all: Key, of part: (CountedSource.Network) -> Key,
        at now: Date
    ) {
        let networks = (source?.networks ?? []).map { Limit(part($0), shared.total) }
        note([Limit(all, shared.total)] + networks, at: now)
    }

    /// Returns the seconds until the source gets more of a shared limit; nil if it gets more now.
    func wait(
        within shared: SharedLimit, from source: CountedSource?, all: Key, of part: (CountedSource.Network) -> Key,
        at now: Date
    ) -> Int? {
        func count(_ key: Key) -> SharedLimit.Count<Date> {
            let times = events(under: key, at: now)
            return SharedLimit.Count(times.count, first: times.first)
        }
        let reached = shared.reached(by: source) {
            count(all)
        } of: {
            count(part($0))
        }
        return reached.map { seconds(until: $0.first ?? now, at: now) }
    }
}
