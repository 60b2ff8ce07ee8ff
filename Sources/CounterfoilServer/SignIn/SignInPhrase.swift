/// The texts of the sign-in page.
public enum SignInPhrase: String, LocalizationKey {
    /// The username or the password is wrong; the text never says which.
    case wrong = "sign-in.wrong"
    /// There were too many attempts.
    case tooManyAttempts = "sign-in.too-many-attempts"
    /// The time until the next attempt, in seconds.
    case waitSeconds = "sign-in.wait-seconds"
    /// The time until the next attempt, in minutes.
    case waitMinutes = "sign-in.wait-minutes"
    /// The session had ended when the form was submitted.
    case formLost = "sign-in.form-lost"
    /// The user is signed in, but not recently enough for the page.
    case signInAgain = "sign-in.again"
}

extension LocalizedText {
    /// The time until the next attempt, in seconds or minutes.
    package static func wait(seconds: Int) -> LocalizedText {
        seconds < 60
            ? LocalizedText(SignInPhrase.waitSeconds, ["count": .number(seconds)])
            : LocalizedText(SignInPhrase.waitMinutes, ["count": .number((seconds - 1) / 60 + 1)])
    }
}
