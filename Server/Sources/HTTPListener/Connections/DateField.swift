package import Foundation
import NIOConcurrencyHelpers

/// The value of the `Date` field (RFC 9110 §6.6.1), cached for one second.
package final class DateField: Sendable {
    private let written = NIOLockedValueBox<(second: Int, text: String)>((-1, ""))

    package init() {}

    package func text(at moment: Date = Date()) -> String {
        let second = Int(moment.timeIntervalSince1970.rounded(.down))
        return written.withLockedValue { written in
            if written.second != second { written = (second, Self.text(ofSecond: second)) }
            return written.text
        }
    }

    /// Formats a time as IMF-fixdate (RFC 9110 §5.6.7).
    static func text(ofSecond second: Int) -> String {
        var (moment, parts) = (time_t(second), tm())
        guard gmtime_r(&moment, &parts) != nil else { return "" }
        func two(_ number: CInt) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let day = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"][Int(parts.tm_wday)]
        let month = [
            "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
        ][Int(parts.tm_mon)]
        return "\(day), \(two(parts.tm_mday)) \(month) \(1900 + parts.tm_year) "
            + "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec)) GMT"
    }
}
