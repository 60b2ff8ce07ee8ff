import CounterfoilSQL
import Foundation

/// The last time at which each server key was the first one of a server, and at which a client used a refresh token
/// that it kept, by the fingerprint of the key.
///
/// The first key makes everything, so nothing that was made later needs a key that is not the first any more. A client
/// that keeps its refresh token, and ignores the new one in a response, needs the key for longer.
struct ServerKeyUses: Sendable, Hashable {
    private(set) var times: [String: Date] = [:]
    /// The last use of a refresh token of each key that its client kept (``PreviousKeyTokenUses``).
    private(set) var keptTokenUses: [String: Date] = [:]

    /// The name of the text among the noted settings.
    static let name = "server-keys"
    /// A time in seconds by which a former key ends before the next one begins.
    private static let moment: TimeInterval = 0.001
    /// The largest number of keys that are remembered.
    private static let limit = 16

    /// Reads a text; lines in another form are left out.
    init(_ text: String?) {
        for line in (text ?? "").split(separator: "\n") {
            let parts = line.split(separator: " ")
            guard (2...3).contains(parts.count), let time = Int64(parts[1]) else { continue }
            times["\(parts[0])"] = Date(microseconds: time)
            if parts.count == 3, let use = Int64(parts[2]) { keptTokenUses["\(parts[0])"] = Date(microseconds: use) }
        }
    }

    /// A line for each key, with the times in microseconds since 1970.
    var text: String {
        times.sorted { $0.key < $1.key }.map { fingerprint, time in
            let use = keptTokenUses[fingerprint].map { " \($0.microseconds)" } ?? ""
            return "\(fingerprint) \(time.microseconds)\(use)"
        }.joined(separator: "\n")
    }

    /// Notes that a client used a refresh token of a key, although it had got one of the current key.
    mutating func noteKeptToken(of fingerprint: String, at now: Date) { keptTokenUses[fingerprint] = now }

    /// Notes that a server uses keys.
    ///
    /// - Parameters:
    ///   - fingerprints: Those of its keys, the first one first.
    ///   - now: The current time.
    ///   - isAlone: Whether no other server uses the store. Its former key was then used until now at the latest;
    ///     otherwise each server notes it regularly.
    mutating func note(_ fingerprints: [String], at now: Date, isAlone: Bool = false) {
        guard let current = fingerprints.first else { return }
        // Nothing is known of the time before the first note, so each former key may have been used until now.
        if times.isEmpty { for fingerprint in fingerprints { times[fingerprint] = now - Self.moment } }
        if isAlone, let last = times.max(by: { $0.value < $1.value })?.key, last != current {
            times[last] = now - Self.moment
        }
        times[current] = now
        for (fingerprint, _) in times.sorted(by: { $0.value > $1.value }).dropFirst(Self.limit) {
            (times[fingerprint], keptTokenUses[fingerprint]) = (nil, nil)
        }
    }
}
