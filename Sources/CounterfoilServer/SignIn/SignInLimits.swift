import Crypto
import Foundation
import Synchronization

/// When sign-ins are slowed down and refused; only failed ones count.
public struct SignInLimits: Sendable, Hashable {
    /// How many failures a person may have within the window.
    public var failuresPerPerson = 10
    /// How many failures a source address may have within the window.
    public var failuresPerSource = 100
    /// The window, in seconds.
    public var window = 15 * 60
    /// From which failure of a person on each further try has to wait, one second, then twice as long each time.
    public var delayFromFailure = 5

    /// The limits of a server that is new.
    public init() {}
}

/// What the limits say of a try.
enum SignInVerdict: Sendable, Hashable {
    /// It may be tried now.
    case allowed
    /// It may be tried after so many seconds.
    case tooEarly(retryAfter: Int)
}

/// Counts the failures of a while, by name, by person and by source; bounded in memory.
///
/// A name is counted as it was typed, whether anybody has it or not, so that the limits tell nobody which names exist. A
/// person is counted besides, under whichever name they were tried, so that a second name gives nobody more guesses; that
/// count stops tries in silence, for it would tell which two names are one person's. The window slides: nobody is locked
/// out for longer than it.
package final class SignInThrottle: Sendable {
    private let limits: SignInLimits
    private let state = Mutex(State())

    /// How many names or sources are remembered at most; the oldest are forgotten first.
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

    /// Lets a try under a name begin, or not; one that begins counts as a failure until it is withdrawn.
    ///
    /// Counting first is what keeps many tries at once from passing before the first of them has failed.
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

    /// Lets the password of a person be looked at, or not, whatever name was typed; counts as ``admit(name:source:now:)``
    /// does.
    ///
    /// No try waits here but at the limit: names have their growing delays already.
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

    /// A person who has signed in starts anew; of the source's failures only this try is taken back.
    func noteSuccess(name: String, person: PersonIdentifier, source: String?, admittedAt time: Date) {
        state.withLock { state in
            state.names.forget(name)
            state.people.forget(person.rawValue)
            if let source { state.sources.withdraw(source, at: time) }
        }
    }

    /// Takes back a try that was never judged; of a person only where it was counted.
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

/// The failures of a while by name, of which only a digest is kept, so that an entry has a size.
struct FailureLog {
    private var entries: [SHA256.Digest: [Date]] = [:]
    private var sweptAt = Date.distantPast

    func failures(of name: String, since start: Date) -> [Date] {
        // Where nobody has failed lately there is nothing to look up.
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
