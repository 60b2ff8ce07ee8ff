/// The errors of the form for the first administrator.
enum SetupPhrase: String, LocalizationKey {
    case badUsername = "setup.bad-username"
    case badEmail = "setup.bad-email"
    case usernameTaken = "setup.username-taken"
    case emailTaken = "setup.email-taken"
}
