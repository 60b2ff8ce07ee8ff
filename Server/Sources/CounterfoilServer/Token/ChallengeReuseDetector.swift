@_spi(Counterfoil) package import CounterfoilProtocol
package import Foundation

/// A detector of clients that use the same `code_challenge` repeatedly; bounded in memory.
///
/// RFC 9700 §2.1.1: each authorization request needs a new challenge. A constant challenge gives no protection.
///
/// Only the challenges of redeemed codes count. A user may open the same authorization URL twice, but the
/// client redeems only one of the two codes. No request is refused, because the user cannot fix the client. The
/// developer and the operator are notified instead, at most once an hour for each client.
package final class ChallengeReuseDetector: Sendable {
    /// The number of challenges remembered for a client; a few are enough, because a constant challenge is
    /// always among them.
    static let challengesPerClient = 8
    /// The number of clients remembered; the clients that were seen least recently are removed first.
    static let capacity = 10_000
    /// The minimum interval between two audit events about repeated challenges of the same client, in seconds.
    static let silence: TimeInterval = 3600

    private struct Entry {
        var challenges: [CodeChallenge] = []
        var seenAt = Date.distantPast
        var repeatedAt: Date?
        var recordedAt: Date?
    }

    private let entries = Mutex<[ClientIdentifier: Entry]>([:])

    /// Remembers the challenge of a redeemed code; returns true if the client repeats it and an audit event is due.
    ///
    /// After a result of true, further repetitions by the same client return false for an hour.
    func note(_ challenge: CodeChallenge, of client: ClientIdentifier, now: Date) -> Bool {
        entries.withLock { entries in
            if entries.count >= Self.capacity, entries[client] == nil { Self.makeRoom(in: &entries) }
            var entry = entries[client] ?? Entry()
            defer { entries[client] = entry }
            entry.seenAt = now
            guard entry.challenges.contains(challenge) else {
                entry.challenges = (entry.challenges + [challenge]).suffix(Self.challengesPerClient)
                return false
            }
            entry.repeatedAt = now
            if let recordedAt = entry.recordedAt, now < recordedAt.addingTimeInterval(Self.silence) { return false }
            entry.recordedAt = now
            return true
        }
    }

    /// The time of the last repeated challenge of a client; nil if none was detected.
    package func lastRepetition(of client: ClientIdentifier) -> Date? {
        entries.withLock { $0[client]?.repeatedAt }
    }

    private static func makeRoom(in entries: inout [ClientIdentifier: Entry]) {
        let oldest = entries.sorted { $0.value.seenAt < $1.value.seenAt }.prefix(capacity / 10)
        for entry in oldest { entries[entry.key] = nil }
    }
}
