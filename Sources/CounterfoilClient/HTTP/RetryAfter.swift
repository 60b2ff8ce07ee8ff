package import Foundation
import HTTPTypes

extension TransportResponse {
    /// The delay in `Retry-After`, at most one day; nil if the field is missing or invalid (RFC 9110 §10.2.3).
    var retryAfter: Duration? {
        guard let text = head.headerFields[.retryAfter] else { return nil }
        let seconds: Double
        if let number = Int(text) {
            seconds = Double(number)
        } else if let date = HTTPDate.parse(text) {
            seconds = date.timeIntervalSinceNow.rounded(.up)
        } else {
            return nil
        }
        return .seconds(min(max(seconds, 0), 86400))
    }
}

/// The IMF-fixdate format, the only date format that HTTP senders may generate (RFC 9110 §5.6.7).
package enum HTTPDate {
    /// Parses a date such as `Sun, 06 Nov 1994 08:49:37 GMT`; nil for any other format.
    package static func parse(_ text: String) -> Date? {
        guard text.utf8.count <= 40 else { return nil }
        return try? Date(text, strategy: format)
    }

    private static let format = Date.ParseStrategy(
        format: """
            \(weekday: .abbreviated), \(day: .twoDigits) \(month: .abbreviated) \(year: .defaultDigits) \
            \(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased)):\(minute: .twoDigits):\(second: .twoDigits) GMT
            """,
        locale: Locale(identifier: "en_US_POSIX"), timeZone: .gmt, isLenient: false)
}
