import CounterfoilPlatform

/// The time format of tokens (NumericDate): seconds since 1970 without leap seconds.
///
/// RFC 7519 §2: the value is a number, which may have a fraction. Times before 1970 and after the
/// year 9999 are rejected.
enum NumericDate {
    private static let range: ClosedRange<Double> = 0...253_402_300_799

    /// Converts a JSON value to a time; returns nil if it is not a valid NumericDate.
    static func date(_ value: JSONValue) -> Date? {
        switch value {
        case .integer(let seconds): date(Double(seconds))
        case .number(let seconds): date(seconds)
        case .object, .array, .string, .boolean, .null: nil
        }
    }

    /// Converts a time to whole seconds, rounded down; returns nil if it is out of range.
    static func seconds(_ date: Date) -> Int64? {
        let seconds = date.timeIntervalSince1970.rounded(.down)
        return range.contains(seconds) ? Int64(seconds) : nil
    }

    private static func date(_ seconds: Double) -> Date? {
        range.contains(seconds) ? Date(timeIntervalSince1970: seconds) : nil
    }
}
