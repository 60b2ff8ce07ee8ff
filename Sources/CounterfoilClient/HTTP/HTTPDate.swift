package import CounterfoilPlatform

/// The IMF-fixdate format, the only date format that HTTP senders may generate (RFC 9110 §5.6.7).
package enum HTTPDate {
    /// Parses a date such as `Sun, 06 Nov 1994 08:49:37 GMT`; nil for any other format.
    ///
    /// The day of the week must have a valid name. It need not be that of the date, which is complete without it.
    package static func parse(_ text: String) -> Date? {
        let bytes = Array(text.utf8)
        guard bytes.count == 29, weekdays.contains(String(decoding: bytes[..<3], as: UTF8.self)),
            bytes[3..<5].elementsEqual(", ".utf8), bytes[7] == UInt8(ascii: " "), bytes[11] == UInt8(ascii: " "),
            bytes[16] == UInt8(ascii: " "), bytes[19] == UInt8(ascii: ":"), bytes[22] == UInt8(ascii: ":"),
            bytes[25...].elementsEqual(" GMT".utf8),
            let day = number(bytes[5..<7]), let year = number(bytes[12..<16]),
            let month = months.firstIndex(of: String(decoding: bytes[8..<11], as: UTF8.self)).map({ $0 + 1 }),
            let hour = number(bytes[17..<19]), let minute = number(bytes[20..<22]), let second = number(bytes[23..<25]),
            // A second of 60 is a leap second.
            (1...daysInMonth(month, of: year)).contains(day), hour < 24, minute < 60, second <= 60
        else { return nil }
        let days = daysSince1970(year: year, month: month, day: day)
        return Date(timeIntervalSince1970: Double(((days * 24 + hour) * 60 + minute) * 60 + second))
    }

    private static let weekdays: Set = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
        var value = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            value = value * 10 + Int(digit - UInt8(ascii: "0"))
        }
        return value
    }

    private static func daysInMonth(_ month: Int, of year: Int) -> Int {
        switch month {
        case 2: isLeap(year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    private static func isLeap(_ year: Int) -> Bool {
        year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
    }

    /// Returns the days from 1970-01-01 to a date of the Gregorian calendar; negative for an earlier date.
    private static func daysSince1970(year: Int, month: Int, day: Int) -> Int {
        let before = year - 1
        // The days from 0001-01-01 to the first day of the year, and to that of 1970.
        let toYear = before * 365 + before / 4 - before / 100 + before / 400
        let inYear = (1..<month).reduce(0) { $0 + daysInMonth($1, of: year) }
        return toYear - 719_162 + inYear + day - 1
    }
}
