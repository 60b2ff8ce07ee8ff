import ArgumentParser
import CounterfoilWeb

/// The form and the range of a number or a time among the settings.
enum SettingForm: Sendable {
    case number(ClosedRange<Int>)
    /// A time, with its range in seconds.
    case time(ClosedRange<Int>)
    /// A number of days.
    case days(ClosedRange<Int>, orForever: Bool = false)

    private static let (minute, hour, day) = (60, 3600, 86_400)

    /// The forms by the names of the settings.
    static let all: [String: SettingForm] = [
        "access-token-lifetime": .time(minute...day),
        "applications-per-developer": .number(1...1_000_000),
        "approvals-per-user": .number(1...1_000_000),
        "audit-retention": .days(1...36_500, orForever: true),
        "code-lifetime": .time(10...10 * minute),
        "connections": .number(ConnectionLimits.minimum...1_000_000),
        "database-connections": .number(1...200),
        "device-code-lifetime": .time(minute...30 * minute),
        "drain-delay": .time(0...10 * minute),
        "failures-per-person": .number(1...1_000_000),
        "failures-per-source": .number(1...1_000_000),
        "hsts-max-age": .time(0...3650 * day),
        "id-token-lifetime": .time(minute...day),
        "key-lifetime": .days(1...3650),
        "page-lifetime": .time(5 * minute...day),
        "pushed-request-lifetime": .time(10...10 * minute),
        "recent-sign-in": .time(minute...day),
        "refresh-idle-lifetime": .time(10 * minute...365 * day),
        "refresh-lifetime": .time(10 * minute...730 * day),
        "registrations-per-hour": .number(2...1_000_000),
        "registrations-per-source": .number(1...1_000_000),
        "session-idle-lifetime": .time(5 * minute...30 * day),
        "session-lifetime": .time(10 * minute...365 * day),
        "sign-in-delay-from": .number(1...1_000_000),
        "sign-in-window": .time(minute...day),
        "stop-timeout": .time(1...hour),
    ]

    /// Throws `ValidationError` if a value is out of the range of a setting.
    static func check(_ value: Int, of setting: String) throws {
        guard let form = all[setting], !form.range.contains(value) else { return }
        throw ValidationError("--\(setting) must be \(form).")
    }

    /// Returns a message that says the form and the range, or the possible values, for the message of ArgumentParser
    /// about a value that it cannot read.
    static func explained(_ message: String) -> String {
        guard message.hasPrefix("The value "), let match = message.firstMatch(of: /is invalid for '--([a-z\-]+)/)
        else { return message }
        let name = String(match.output.1)
        if let form = all[name] { return "--\(name) must be \(form)." }
        guard let choices = Setting.named[name]?.choices, !choices.isEmpty else { return message }
        return "--\(name) must be one of \(choices.joined(separator: ", "))."
    }

    private var range: ClosedRange<Int> {
        switch self {
        case .number(let range), .time(let range), .days(let range, _): range
        }
    }
}

extension SettingForm: CustomStringConvertible {
    var description: String {
        switch self {
        case .number(let range): "a number from \(range.lowerBound) to \(range.upperBound)"
        case .time(let range):
            "a time from \(Seconds(range.lowerBound)) to \(Seconds(range.upperBound)), a number with s, m, h, d or w"
        case .days(let range, let orForever):
            "a number of days from \(range.lowerBound) to \(range.upperBound), such as 90, 90d or 12w"
                + (orForever ? ", or forever" : "")
        }
    }
}
