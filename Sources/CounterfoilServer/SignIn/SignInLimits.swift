import CounterfoilProtocol
import Crypto
import Foundation

/// The rate limits of sign-ins, which count failures only.
public struct SignInLimits: Sendable, Hashable {
    /// The number of failures allowed within the window for one typed name, and for one account.
    public var failuresPerPerson = 10
    /// The number of failures allowed for one source address within the window.
    public var failuresPerSource = 100
    /// The length of the sliding window, in seconds.
    public var window = 15 * 60
    /// The number of failures with one typed name after which each further attempt must wait.
    ///
    /// The first wait is one second. Each further failure doubles the wait, up to the length of the window.
    public var delayFromFailure = 5

    /// Creates the default limits.
    public init() {}
}

/// The decision on whether an attempt may proceed.
enum SignInVerdict: Sendable, Hashable {
    /// The attempt is allowed, and is already counted as a failure until it succeeds.
    case allowed
    /// The attempt is allowed after this number of seconds.
    case tooEarly(retryAfter: Int)
}

/// The counter of failed sign-ins by typed name, by account and by source address in a sliding window.
///
/// An attempt counts for the typed name even if no account has that name, so that the limits do not reveal
/// which names exist.
///
/// An attempt also counts for the account. An attacker who alternates between its username and its email address
/// therefore gets no additional guesses. The server does not report the limit of the account to an anonymous
/// caller, because that would reveal that two names belong to one account. An account is never locked for longer
/// than the window. The counter uses a bounded amount of memory.
package final class SignInThrottle: Sendable {
    private let limits: SignInLimits
    private let state = Mutex(State())

    /// The maximum number of entries in each of the three logs; a full log drops the entries with the oldest failures.
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

    /// Admits an attempt under a typed name, and counts it as a failure until it succeeds or is withdrawn.
    ///
    /// Attempts count before their verification, so that concurrent attempts cannot exceed the limit.
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

    /// Admits the verification of an account's password, whatever name was typed.
    ///
    /// Like ``admit(name:source:now:)``, it counts the attempt as a failure in advance. It delays attempts only
    /// when the account has reached ``SignInLimits/failuresPerPerson``. The growing delays before that limit already
    /// apply to the typed name.
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

    /// Records a successful sign-in: deletes all failures of the name and the account, but only this attempt from
    /// the failures of the source address.
    func noteSuccess(name: String, person: PersonIdentifier, source: String?, admittedAt time: Date) {
        state.withLock { state in
            state.names.forget(name)
            state.people.forget(person.rawValue)
            if let source { state.sources.withdraw(source, at: time) }
        }
    }

    /// Removes an attempt from the failures, because its password was not verified; `person` is nil if the attempt was
    /// not counted for an account.
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

/// The times of recent failures for each key; a key is a typed name, an account or a source address.
///
/// Only a digest of each key is stored, so that each entry has a bounded size.
struct FailureLog {
    private var entries: [SHA256.Digest: [Date]] = [:]
    private var sweptAt = Date.distantPast

    func failures(of name: String, since start: Date) -> [Date] {
        // Usually there are no failures at all, so computing the digest is not necessary.
        entries.isEmpty ? [] : (entries[Self.key(name)] ?? []).filter { $0 > start }
    }

    private static func key(_ name: String) -> SHA256.Digest { SHA256.hash(data: Array(name.utf8)) }

    mutating func note(_ name: String, at time: Date, since start: Date, keep: Int) {
        let key = Self.key(name)
        if sweptAt < start {
            sweptAt = time
            removeExpired(since: start)
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

    private mutating func removeExpired(since start: Date) {
        entries = entries.filter { ($0.value.last ?? .distantPast) > start }
    }

    private mutating func makeRoom(since start: Date) {
        removeExpired(since: start)
        guard entries.count >= SignInThrottle.capacity else { return }
        let oldest = entries.sorted { ($0.value.last ?? .distantPast) < ($1.value.last ?? .distantPast) }
        for entry in oldest.prefix(SignInThrottle.capacity / 10) { entries[entry.key] = nil }
    }
}
