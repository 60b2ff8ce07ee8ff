import CounterfoilServer

/// The reason why a submitted form changes nothing yet, and is shown again with the typed values.
enum FormDelay: String, LocalizationKey {
    /// The ticket of the page has expired.
    case expired = "console.page-expired"
    /// The sign-in is too long ago for the page, and the form does not contain the password.
    case passwordNeeded = "console.password-needed"
    case passwordWrong = "console.password-wrong"
    /// There were too many failed sign-ins, and the password was not verified.
    case tooManyAttempts = "console.password-too-early"
}
