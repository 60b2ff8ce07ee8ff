import Foundation

/// Seconds since 1970 without leap seconds, as tokens write times.
///
/// RFC 7519 §2: a number, which may have a fraction. Times after the year 9999 are refused.
enum NumericDate {
    private static let range: ClosedRange<Double> = 0...253_402_300_799

    /// The time that a value stands for, or nil when it is not a time.
    static func date(_ value: JSONValue) -> Date? {
        switch value {
        case .integer(let seconds): date(Double(seconds))
        case .number(let seconds): date(seconds)
        case .object, .array, .string, .boolean, .null: nil
        }
    }

    /// The whole seconds of a time, or nil when it cannot be written.
    static func seconds(_ date: Date) -> Int64? {
        let seconds = date.timeIntervalSince1970.rounded(.down)
        return range.contains(seconds) ? Int64(seconds) : nil
    }

    private static func date(_ seconds: Double) -> Date? {
        range.contains(seconds) ? Date(timeIntervalSince1970: seconds) : nil
    }
}
