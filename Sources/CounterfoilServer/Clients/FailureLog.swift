import Crypto
import Foundation

/// The times of recent failures in this process for each key, such as a client or an IP address; bounded in memory.
struct FailureLog<Key: Hashable & Sendable> {
    /// The maximum number of keys; a full log drops those with the oldest failures.
    private static var capacity: Int { 100_000 }

    private var entries: [Key: [Date]] = [:]
    private var sweptAt = Date.distantPast

    /// Returns the failures after a time, oldest first.
    func failures(of key: Key, since start: Date) -> [Date] { (entries[key] ?? []).filter { $0 > start } }

    /// Adds a failure, and keeps only the latest `keep` of those after `start`.
    mutating func note(_ key: Key, at time: Date, since start: Date, keep: Int) {
        if sweptAt < start {
            sweptAt = time
            removeExpired(since: start)
        }
        if entries.count >= Self.capacity, entries[key] == nil { makeRoom(since: start) }
        entries[key] = Array(((entries[key] ?? []).filter { $0 > start } + [time]).suffix(keep))
    }

    mutating func withdraw(_ key: Key, at time: Date) {
        guard let index = entries[key]?.lastIndex(of: time) else { return }
        entries[key]?.remove(at: index)
        if entries[key]?.isEmpty == true { entries[key] = nil }
    }

    mutating func forget(_ key: Key) { entries[key] = nil }

    private mutating func removeExpired(since start: Date) {
        entries = entries.filter { ($0.value.last ?? .distantPast) > start }
    }

    private mutating func makeRoom(since start: Date) {
        removeExpired(since: start)
        guard entries.count >= Self.capacity else { return }
        let oldest = entries.sorted { ($0.value.last ?? .distantPast) < ($1.value.last ?? .distantPast) }
        for entry in oldest.prefix(Self.capacity / 10) { entries[entry.key] = nil }
    }
}

extension FailureLog<SHA256.Digest> {
    /// Returns the failures under a name of any length.
    func failures(of name: String, since start: Date) -> [Date] {
        // Usually there are no failures at all, so computing the digest is not necessary.
        entries.isEmpty ? [] : failures(of: Self.key(name), since: start)
    }

    /// Adds a failure under a name of any length.
    mutating func note(_ name: String, at time: Date, since start: Date, keep: Int) {
        note(Self.key(name), at: time, since: start, keep: keep)
    }

    private static func key(_ name: String) -> SHA256.Digest { SHA256.hash(data: Array(name.utf8)) }
}
