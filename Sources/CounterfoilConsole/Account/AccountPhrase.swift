import CounterfoilServer
import Foundation

/// The confirmations of actions on the account; the raw value ends in the code of `done`.
enum AccountNotice: String, LocalizationKey, Notice {
    case disconnected = "account.notice.disconnected"
    case permissionsSaved = "account.notice.saved"
    case sessionEnded = "account.notice.session-ended"
    case sessionOver = "account.notice.session-over"
    case othersEnded = "account.notice.others-ended"
    case passwordChanged = "account.notice.password-changed"
}

enum AccountPhrase: String, LocalizationKey {
    case nothingKept = "account.application.nothing-kept"
    case tokensEnd = "account.application.tokens-end"
    case currentPasswordMissing = "account.password.current-missing"
    case currentPasswordWrong = "account.password.current-wrong"
    case passwordUnchanged = "account.password.unchanged"
    case passwordChangedMeanwhile = "account.password.changed-meanwhile"
    case justNow = "account.ago.just-now"
    case minutesAgo = "account.ago.minutes"
    case hoursAgo = "account.ago.hours"
}

extension Localizer {
    /// Formats the time since an event, in minutes, then in hours, then as a date.
    func ago(_ time: Date, now: Date) -> String {
        switch Int(now.timeIntervalSince(time)) {
        // The last request of a browser is recorded once a minute.
        case ..<120: self(AccountPhrase.justNow)
        case let seconds where seconds < 3600:
            self(LocalizedText(AccountPhrase.minutesAgo, ["count": .number(seconds / 60)]))
        case let seconds where seconds < 86400:
            self(LocalizedText(AccountPhrase.hoursAgo, ["count": .number(seconds / 3600)]))
        default: date(time)
        }
    }
}
