import CounterfoilSQL
import Foundation

/// The last time at which each server key was the first one of a server, by the fingerprint of the key.
///
/// The first key makes everything, so nothing that was made later needs a key that is not the first any more.
struct ServerKeyUses: Sendable, Hashable {
    private(set) var times: [String: Date] = [:]

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
            guard parts.count == 2, let time = Int64(parts[1]) else { continue }
            times["\(parts[0])"] = Date(microseconds: time)
        }
    }

    /// A line for each key, with the time in microseconds since 1970.
    var text: String {
        times.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.microseconds)" }.joined(separator: "\n")
    }

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
            times[fingerprint] = nil
        }
    }
}
