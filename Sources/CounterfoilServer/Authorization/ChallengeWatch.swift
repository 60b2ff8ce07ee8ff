package import CounterfoilProtocol
package import Foundation
import Synchronization

/// Notices applications that prove possession with one `code_challenge` again and again; bounded in memory.
///
/// RFC 9700 §2.1.1: a challenge is made for one request, and one that never changes protects nothing. What counts are codes that
/// were redeemed, because a person may open one request twice, but its application redeems only one of the codes. Nobody is
/// refused: the person who signs in cannot mend it, so it is the developer and the operator who are told.
package final class ChallengeWatch: Sendable {
    /// How many challenges of one application are remembered; one that is constant is always among the last.
    static let challengesPerClient = 8
    /// How many applications are remembered; those that were not seen for longest are forgotten first.
    static let capacity = 10_000
    /// How long the log is silent about an application after it was noted, in seconds.
    static let silence: TimeInterval = 3600

    private struct Entry {
        var challenges: [CodeChallenge] = []
        var seenAt = Date.distantPast
        var repeatedAt: Date?
        var notedAt: Date?
    }

    private let entries = Mutex<[ClientIdentifier: Entry]>([:])

    /// Remembers the challenge of a code that was redeemed; whether it was seen before and that is to be noted now.
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
            if let notedAt = entry.notedAt, now < notedAt.addingTimeInterval(Self.silence) { return false }
            entry.notedAt = now
            return true
        }
    }

    /// When an application last proved possession with a challenge of before; nil when it was not seen to.
    package func lastRepetition(of client: ClientIdentifier) -> Date? {
        entries.withLock { $0[client]?.repeatedAt }
    }

    private static func makeRoom(in entries: inout [ClientIdentifier: Entry]) {
        let oldest = entries.sorted { $0.value.seenAt < $1.value.seenAt }.prefix(capacity / 10)
        for entry in oldest { entries[entry.key] = nil }
    }
}
