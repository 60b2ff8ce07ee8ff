/// The texts of durations.
public enum DurationPhrase: String, LocalizationKey {
    /// In seconds.
    case seconds = "duration.seconds"
    /// In minutes.
    case minutes = "duration.minutes"
    /// In hours.
    case hours = "duration.hours"
    /// In days.
    case days = "duration.days"
}

extension LocalizedText {
    /// Describes a duration in its natural unit: "one hour", "90 minutes", "30 days".
    public static func duration(seconds: Int) -> LocalizedText {
        let (phrase, unit): (DurationPhrase, Int) =
            switch seconds {
            case ..<120: (.seconds, 1)
            case 3600: (.hours, 3600)
            case ..<7200: (.minutes, 60)
            case ..<172_800: (.hours, 3600)
            default: (.days, 86400)
            }
        return LocalizedText(phrase, ["count": .number(seconds / unit)])
    }
}
