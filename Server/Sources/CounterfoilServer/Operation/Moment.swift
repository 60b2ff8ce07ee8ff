import CounterfoilStore
package import Foundation

/// The text format of times in the arguments and the output of commands, and in the filters of pages.
package enum Moment {
    /// The forms that ``parse(_:in:_:)`` accepts, for error messages.
    package static let forms =
        "a day, such as 2027-01-31, a time with its time zone, such as 2027-01-31T09:30Z, or a local time that "
        + "exists, such as 2027-01-31T09:30"
    /// The further forms that ``parse(_:at:in:_:)`` accepts.
    package static let searchForms = "today, yesterday, a time ago, such as 90m, 2h or 7d, " + forms

    /// Formats a time in UTC, to the second: `2027-01-31T09:30:00Z`.
    package static func text(_ moment: Date) -> String { moment.formatted(.iso8601) }

    /// Formats a time in a time zone, to the second: `2027-01-31T10:30:00+01:00`.
    package static func text(_ moment: Date, in zone: TimeZone) -> String {
        let seconds = zone.secondsFromGMT(for: moment)
        // The wall clock of the time zone is that of UTC, so much later.
        let wall = text(moment.addingTimeInterval(TimeInterval(seconds))).dropLast()
        let minutes = abs(seconds) / 60
        let digits = [minutes / 60, minutes % 60].map { ($0 < 10 ? "0" : "") + "\($0)" }
        return wall + (seconds < 0 ? "-" : "+") + digits.joined(separator: ":")
    }

    /// Describes the times at `start` or later and before `end`, in UTC, and in a time zone with another offset; nil
    /// without any limit.
    package static func period(since start: Date?, before end: Date?, in zone: TimeZone = .current) -> String? {
        func both(_ time: Date) -> String {
            zone.secondsFromGMT(for: time) == 0 ? text(time) : "\(text(time)) (\(text(time, in: zone)))"
        }
        let limits = [start.map { "since \(both($0))" }, end.map { "before \(both($0))" }].compactMap(\.self)
        return limits.isEmpty ? nil : limits.joined(separator: " and ")
    }

    /// The moment of a local time that occurs twice, because daylight saving time ends.
    package enum Occurrence {
        case first, last
    }

    /// Parses a time of a search: a day, `today` or `yesterday`, each of which begins with its first moment in the time
    /// zone; a time ago, as a number of minutes, hours or days of 24 hours, such as `90m`, `2h` or `7d`; or a time as
    /// ``parse(_:in:_:)`` does.
    ///
    /// - Parameters:
    ///   - text: The time.
    ///   - now: The current time.
    ///   - zone: The time zone of a day, and of a time without one.
    ///   - occurrence: The moment of a time that occurs twice.
    package static func parse(
        _ text: String, at now: Date, in zone: TimeZone = .current, _ occurrence: Occurrence = .first
    ) -> Date? {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        // A day of daylight saving time can begin at 01:00, and has 23 or 25 hours.
        let today = calendar.startOfDay(for: now)
        if text == "today" { return today }
        if text == "yesterday" { return calendar.startOfDay(for: today - 43_200) }
        if let day = CalendarDay(text) {
            let noon = calendar.date(from: DateComponents(year: day.year, month: day.month, day: day.day, hour: 12))
            return noon.map { calendar.startOfDay(for: $0) }
        }
        let units: [Character: TimeInterval] = ["m": 60, "h": 3600, "d": 86_400]
        guard let unit = text.last.flatMap({ units[$0] }) else { return parse(text, in: zone, occurrence) }
        let digits = text.dropLast()
        guard (1...6).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let count = Int(digits)
        else { return nil }
        return now - TimeInterval(count) * unit
    }

    /// Parses a day, which begins at 00:00 UTC, or a time to the minute or the second.
    ///
    /// Returns nil for any other text, and for a local time that does not exist, because daylight saving time begins.
    ///
    /// - Parameters:
    ///   - text: A time such as `2027-01-31T09:30`, with `Z` or an offset such as `+01:00` or `+0100`, or without a
    ///     time zone.
    ///   - zone: The time zone of a time without one.
    ///   - occurrence: The moment of a time that occurs twice: the last one for the end of a period, so that it
    ///     contains both.
    package static func parse(
        _ text: String, in zone: TimeZone = .current, _ occurrence: Occurrence = .first
    ) -> Date? {
        if let day = CalendarDay(text) { return date(day, [0, 0, 0], in: .gmt, occurrence) }
        guard let day = CalendarDay(String(text.prefix(10))) else { return nil }
        let rest = text.dropFirst(10)
        guard rest.first == "T" || rest.first == " " else { return nil }
        var clock = rest.dropFirst()
        var zone = zone
        if clock.last == "Z" {
            (clock, zone) = (clock.dropLast(), .gmt)
        } else if let sign = clock.firstIndex(where: { $0 == "+" || $0 == "-" }) {
            let typed = clock[clock.index(after: sign)...]
            let digits = typed.count == 4 ? Substring("\(typed.prefix(2)):\(typed.suffix(2))") : typed
            guard let offset = numbers(digits), offset.count == 2, offset[0] < 24,
                let offsetZone = TimeZone(
                    secondsFromGMT: (offset[0] * 60 + offset[1]) * (clock[sign] == "-" ? -60 : 60))
            else { return nil }
            (clock, zone) = (clock[..<sign], offsetZone)
        }
        guard let time = numbers(clock), (2...3).contains(time.count), time[0] < 24 else { return nil }
        return date(day, time + (time.count == 2 ? [0] : []), in: zone, occurrence)
    }

    /// Parses numbers of two digits with colons between them, each below 60.
    private static func numbers(_ text: Substring) -> [Int]? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { part in
            part.count == 2 && part.allSatisfy { ("0"..."9").contains($0) } ? Int(part) : nil
        }
        return numbers.count == parts.count && numbers.allSatisfy { $0 < 60 } ? numbers : nil
    }

    private static func date(
        _ day: CalendarDay, _ time: [Int], in zone: TimeZone, _ occurrence: Occurrence
    ) -> Date? {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let components = DateComponents(
            year: day.year, month: day.month, day: day.day, hour: time[0], minute: time[1], second: time[2])
        guard let wall = calendar.date(from: components) else { return nil }
        func offset(_ time: Date) -> TimeInterval { TimeInterval(zone.secondsFromGMT(for: time)) }
        // The offset is that of the day before or that of the day after.
        let times = [-86_400, 86_400].map { wall - offset(wall + $0) }.filter { $0 + offset($0) == wall }
        return occurrence == .first ? times.min() : times.max()
    }
}
