import CounterfoilServer
import Foundation

/// The time until now that charts show; the raw value is that of the query parameter `range`.
enum ActivityRange: String, CaseIterable {
    case day = "24h"
    case week = "7d"
    case month = "30d"
    case year = "12m"

    /// The name of the range on the page.
    var label: OverviewMessage {
        switch self {
        case .day: .day
        case .week: .week
        case .month: .month
        case .year: .year
        }
    }

    /// Returns the ends of the periods whose numbers are shown, earliest first; the last period contains the time.
    ///
    /// The periods are hours, quarters of a day, days and months in a time zone. A change to or from daylight saving
    /// time makes one of them longer or shorter.
    func times(until now: Date, in zone: TimeZone) -> [Date] {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        let today = calendar.startOfDay(for: now)
        func day(_ offset: Int) -> Date? {
            // A day can begin at 01:00.
            calendar.date(byAdding: .day, value: offset, to: today + 43_200).map { calendar.startOfDay(for: $0) }
        }
        switch self {
        case .day:
            let hour = now.timeIntervalSince1970 - now.timeIntervalSince1970.truncatingRemainder(dividingBy: 3600)
            return (-23...1).map { Date(timeIntervalSince1970: hour + TimeInterval($0) * 3600) }
        case .week:
            let quarters = (-6...0).compactMap(day).flatMap { day in
                [day] + [6, 12, 18].compactMap { calendar.date(bySettingHour: $0, minute: 0, second: 0, of: day) }
            }
            let times = (quarters + [day(1)].compactMap(\.self)).sorted()
            let next = times.first { $0 > now }
            return times.filter { $0 <= now } + [next].compactMap(\.self)
        case .month: return (-29...1).compactMap(day)
        case .year:
            let first = calendar.date(from: calendar.dateComponents([.year, .month], from: now)) ?? today
            return (-11...1).compactMap { offset in
                calendar.date(byAdding: .month, value: offset, to: first + 43_200).map { calendar.startOfDay(for: $0) }
            }
        }
    }

    /// The number of consecutive periods that have the same short name.
    var periodsOfName: Int { self == .week ? 4 : 1 }

    /// Returns the short name of the period that begins at a time, below a chart.
    func shortName(_ time: Date, _ words: Localizer, in zone: TimeZone) -> String {
        switch self {
        case .day: words.time(time, in: zone)
        case .week, .month: words.day(time, in: zone)
        case .year: words.month(time, in: zone)
        }
    }

    /// Returns the whole name of the period that begins at a time.
    func name(_ time: Date, _ words: Localizer, in zone: TimeZone) -> String {
        switch self {
        case .day, .week: words.minute(time, in: zone)
        case .month: words.wholeDay(time, in: zone)
        case .year: words.wholeMonth(time, in: zone)
        }
    }
}
