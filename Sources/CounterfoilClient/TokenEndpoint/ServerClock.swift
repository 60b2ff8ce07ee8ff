import Foundation
import HTTPTypes

/// The offset between a server's clock and this device's, from the `Date` field (RFC 9110 §6.6.1).
///
/// The times in a token follow the server's clock. A device with a wrong clock would reject the token, or
/// the server would reject a proof. Offsets come from responses over TLS and count only within bounds.
/// Below five seconds, the offset can be network delay. Above an hour, a token that expired long ago
/// could be passed off as valid.
enum ServerClock {
    private static let range: ClosedRange<TimeInterval> = 5...3600

    /// Returns how far the server's clock is ahead, in seconds; nil if it is unknown or out of bounds.
    static func offset(in response: TransportResponse, at now: Date = Date()) -> TimeInterval? {
        guard let date = response.head.headerFields[.date].flatMap(HTTPDate.parse) else { return nil }
        let offset = date.timeIntervalSince(now)
        return range.contains(abs(offset)) ? offset : nil
    }
}
