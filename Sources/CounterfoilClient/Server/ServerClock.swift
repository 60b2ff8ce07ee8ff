import Foundation
import HTTPTypes

/// By how much the clock of a server is ahead of this device's, as an answer tells (RFC 9110 §6.6.1).
///
/// Whoever issues a token writes its times by its own clock; a device whose clock is wrong would refuse it, or one of its
/// proofs would be refused. It is learned from answers over TLS and believed within bounds: below some seconds it is the time
/// on the way, and beyond an hour a token that is long over could be passed off as good.
enum ServerClock {
    private static let range: ClosedRange<TimeInterval> = 5...3600

    /// The offset that an answer tells, in seconds; nil when it tells none that is believed.
    static func offset(in response: TransportResponse, at now: Date = Date()) -> TimeInterval? {
        guard let date = response.head.headerFields[.date].flatMap(HTTPDate.parse) else { return nil }
        let offset = date.timeIntervalSince(now)
        return range.contains(abs(offset)) ? offset : nil
    }
}
