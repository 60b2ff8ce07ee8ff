/// Why the form of the first administrator comes back.
enum SetupPhrase: String, Phrase {
    case badUsername = "setup.bad-username"
    case badEmail = "setup.bad-email"
    case usernameTaken = "setup.username-taken"
    case emailTaken = "setup.email-taken"
}
