extension LocalizedText {
    /// Describes a duration in the unit that suits its length, such as "one hour", "90 minutes" or "30 days".
    ///
    /// The number is rounded down.
    package static func duration(seconds: Int) -> LocalizedText {
        switch seconds {
        case ..<120: LocalizedText("duration.seconds", ["count": .number(seconds)])
        case 3600: LocalizedText("duration.hours", ["count": .number(1)])
        case ..<7200: LocalizedText("duration.minutes", ["count": .number(seconds / 60)])
        case ..<172_800: LocalizedText("duration.hours", ["count": .number(seconds / 3600)])
        default: LocalizedText("duration.days", ["count": .number(seconds / 86400)])
        }
    }

    /// Describes the time that a user must wait after too many attempts, in seconds or in minutes rounded up.
    package static func wait(seconds: Int) -> LocalizedText {
        seconds < 60
            ? LocalizedText("sign-in.wait-seconds", ["count": .number(seconds)])
            : LocalizedText("sign-in.wait-minutes", ["count": .number((seconds - 1) / 60 + 1)])
    }
}
