extension LocalizedText {
    /// Describes a duration in its natural unit: "one hour", "90 minutes", "30 days".
    package static func duration(seconds: Int) -> LocalizedText {
        switch seconds {
        case ..<120: LocalizedText("duration.seconds", ["count": .number(seconds)])
        case 3600: LocalizedText("duration.hours", ["count": .number(1)])
        case ..<7200: LocalizedText("duration.minutes", ["count": .number(seconds / 60)])
        case ..<172_800: LocalizedText("duration.hours", ["count": .number(seconds / 3600)])
        default: LocalizedText("duration.days", ["count": .number(seconds / 86400)])
        }
    }

    /// The time until the next attempt after too many of them, in seconds or minutes.
    package static func wait(seconds: Int) -> LocalizedText {
        seconds < 60
            ? LocalizedText("sign-in.wait-seconds", ["count": .number(seconds)])
            : LocalizedText("sign-in.wait-minutes", ["count": .number((seconds - 1) / 60 + 1)])
    }
}
