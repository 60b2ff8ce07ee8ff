import CounterfoilProtocol
import CounterfoilServer
import Foundation

/// The text format of times in the arguments and the output of commands.
enum Moment {
    /// Formats a time in UTC, to the second: `2027-01-31T09:30:00Z`.
    static func text(_ moment: Date) -> String { moment.formatted(.iso8601) }

    /// Parses a time with its time zone, or a day, which means 00:00 UTC on that day.
    static func parse(_ text: String) -> Date? {
        if let day = CalendarDay(text) { return try? Date("\(day)T00:00:00Z", strategy: .iso8601) }
        return try? Date(text, strategy: .iso8601)
    }
}
