import Crypto
import Foundation
import Synchronization

/// The rate limits of sign-ins; only failures count.
public struct SignInLimits: Sendable, Hashable {
    /// The number of failures allowed for one account within the window.
    public var failuresPerPerson = 10
    /// The number of failures allowed for one source address within the window.
    public var failuresPerSource = 100
    /// The window, in seconds.
    public var window = 15 * 60
    /// The number of failures of a username after which each further attempt is delayed.
    ///
    /// The first delay is one second, and each further one is twice as long.
    public var delayFromFailure = 5

    /// Creates the default limits.
    public init() {}
}

/// The decision on an attempt.
enum SignInVerdict: Sendable, Hashable {
    /// The attempt is allowed now.
    case allowed
    /// The attempt is allowed after this number of seconds.
    case tooEarly(retryAfter: Int)
}

/// Counts failed sign-ins by typed name, by account and by source address in a sliding window; bounded in
/// memory.
///
/// A name is counted as typed, whether or not it exists, so that the limits do not reveal which names exist.
/// The account is counted too, so that its second name does not allow more guesses. That limit is not reported,
/// because it would reveal that two names belong to one account. An account is never locked for longer than the
/// window.
package final class SignInThrottle: Sendable {
    private let limits: SignInLimits
    private let state = Mutex(State())

    /// The maximum number of names, accounts or sources remembered; the oldest are removed first.
    static let capacity = 100_000

    private struct State {
        var names = FailureLog()
        var people = FailureLog()
        var sources = FailureLog()
    }

    init(limits: SignInLimits) {
        var limits = limits
        limits.failuresPerPerson = max(1, limits.failuresPerPerson)
        limits.failuresPerSource = max(1, limits.failuresPerSource)
        limits.window = max(1, limits.window)
        self.limits = limits
    }

    /// Admits an attempt under a name; an admitted attempt counts as a failure until it is withdrawn.
    ///
    /// Counting first keeps concurrent attempts from passing before the first of them has failed.
    func admit(name: String, source: String?, now: Date) -> SignInVerdict {
        state.withLock { state in
            let byName = wait(state.names.failures(of: name, since: windowStart(now)), now: now)
            let bySource = Self.wait(
                source.map { state.sources.failures(of: $0, since: windowStart(now)) } ?? [],
                limit: limits.failuresPerSource, window: limits.window, now: now
            )
            let seconds = max(byName, bySource)
            guard seconds <= 0 else { return .tooEarly(retryAfter: Int(seconds.rounded(.up))) }
            state.names.note(name, at: now, since: windowStart(now), keep: limits.failuresPerPerson)
            if let source {
                state.sources.note(source, at: now, since: windowStart(now), keep: limits.failuresPerSource)
            }
            return .allowed
        }
    }

    /// Admits the verification of a user's password, whatever name was typed; counts as
    /// ``admit(name:source:now:)`` does.
    ///
    /// It delays attempts only at the limit, because names already have growing delays.
    func admit(person: PersonIdentifier, now: Date) -> SignInVerdict {
        state.withLock { state in
            let seconds = Self.wait(
                state.people.failures(of: person.rawValue, since: windowStart(now)),
                limit: limits.failuresPerPerson, window: limits.window, now: now
            )
            guard seconds <= 0 else { return .tooEarly(retryAfter: Int(seconds.rounded(.up))) }
            state.people.note(person.rawValue, at: now, since: windowStart(now), keep: limits.failuresPerPerson)
            return .allowed
        }
    }

    /// Deletes the failures of the name and the account; of the source's failures it withdraws only this
    /// attempt.
    func noteSuccess(name: String, person: PersonIdentifier, source: String?, admittedAt time: Date) {
        state.withLock { state in
            state.names.forget(name)
            state.people.forget(person.rawValue)
            if let source { state.sources.withdraw(source, at: time) }
        }
    }

    /// Withdraws an attempt that was not verified; for the account only if it was counted.
    func withdraw(name: String, person: PersonIdentifier?, source: String?, admittedAt time: Date) {
        state.withLock { state in
            state.names.withdraw(name, at: time)
            if let person { state.people.withdraw(person.rawValue, at: time) }
            if let source { state.sources.withdraw(source, at: time) }
        }
    }

    private func windowStart(_ now: Date) -> Date { now.addingTimeInterval(-TimeInterval(limits.window)) }

    private func wait(_ failures: [Date], now: Date) -> TimeInterval {
        let full = Self.wait(failures, limit: limits.failuresPerPerson, window: limits.window, now: now)
        guard failures.count >= limits.delayFromFailure, let last = failures.last else { return full }
        let doublings = min(failures.count - limits.delayFromFailure, 20)
        let pause = min(TimeInterval(1 << doublings), TimeInterval(limits.window))
        return max(full, pause - now.timeIntervalSince(last))
    }

    private static func wait(_ failures: [Date], limit: Int, window: Int, now: Date) -> TimeInterval {
        guard failures.count >= limit else { return 0 }
        let freeing = failures[failures.count - limit]
        return max(0, freeing.addingTimeInterval(TimeInterval(window)).timeIntervalSince(now))
    }
}

/// The recent failures of each name; only a digest of the name is stored, so that each entry has a bounded
/// size.
struct FailureLog {
    private var entries: [SHA256.Digest: [Date]] = [:]
    private var sweptAt = Date.distantPast

    func failures(of name: String, since start: Date) -> [Date] {
        // The common case: there are no recent failures.
        entries.isEmpty ? [] : (entries[Self.key(name)] ?? []).filter { $0 > start }
    }

    private static func key(_ name: String) -> SHA256.Digest { SHA256.hash(data: Array(name.utf8)) }

    mutating func note(_ name: String, at time: Date, since start: Date, keep: Int) {
        let key = Self.key(name)
        if sweptAt < start {
            sweptAt = time
            removeOver(since: start)
        }
        if entries.count >= SignInThrottle.capacity, entries[key] == nil { makeRoom(since: start) }
        entries[key] = Array(((entries[key] ?? []).filter { $0 > start } + [time]).suffix(keep))
    }

    mutating func withdraw(_ name: String, at time: Date) {
        let key = Self.key(name)
        guard let index = entries[key]?.lastIndex(of: time) else { return }
        entries[key]?.remove(at: index)
        if entries[key]?.isEmpty == true { entries[key] = nil }
    }

    mutating func forget(_ name: String) { entries[Self.key(name)] = nil }

    private mutating func removeOver(since start: Date) {
        entries = entries.filter { ($0.value.last ?? .distantPast) > start }
    }

    private mutating func makeRoom(since start: Date) {
        removeOver(since: start)
        guard entries.count >= SignInThrottle.capacity else { return }
        let oldest = entries.sorted { ($0.value.last ?? .distantPast) < ($1.value.last ?? .distantPast) }
        for entry in oldest.prefix(SignInThrottle.capacity / 10) { entries[entry.key] = nil }
    }
}
