/// What the sign-in page says.
public enum SignInPhrase: String, Phrase {
    /// The name or the password is wrong, never which of them.
    case wrong = "sign-in.wrong"
    /// Tries are too many.
    case tooManyAttempts = "sign-in.too-many-attempts"
    /// When to try again, in seconds.
    case waitSeconds = "sign-in.wait-seconds"
    /// When to try again, in minutes.
    case waitMinutes = "sign-in.wait-minutes"
    /// The session had ended when a form came.
    case formLost = "sign-in.form-lost"
    /// The user is signed in, but not recently enough for the page.
    case signInAgain = "sign-in.again"
}

extension Text {
    /// When to try again, in the unit in which a person would say it.
    package static func wait(seconds: Int) -> Text {
        seconds < 60
            ? Text(SignInPhrase.waitSeconds, ["count": .number(seconds)])
            : Text(SignInPhrase.waitMinutes, ["count": .number((seconds - 1) / 60 + 1)])
    }
}
