import Foundation
import HTTPTypes

/// The offset between a server's clock and this device's, from the `Date` field (RFC 9110 §6.6.1).
///
/// The times in a token follow the server's clock. Without the offset, a device with a wrong clock would reject
/// valid tokens, and the server would reject the DPoP proofs of this device.
///
/// Offsets come from responses over TLS. An offset of less than five seconds is ignored, because it can be network
/// delay. An offset of more than one hour is ignored too, because with it a token that expired long ago could
/// appear valid.
enum ServerClock {
    private static let range: ClosedRange<TimeInterval> = 5...3600

    /// Returns the seconds by which the server's clock is ahead, negative if it is behind.
    ///
    /// Returns nil if the response has no valid `Date` field, or if the offset must be ignored.
    static func offset(in response: TransportResponse, at now: Date = Date()) -> TimeInterval? {
        guard let date = response.head.headerFields[.date].flatMap(HTTPDate.parse) else { return nil }
        let offset = date.timeIntervalSince(now)
        return range.contains(abs(offset)) ? offset : nil
    }
}
