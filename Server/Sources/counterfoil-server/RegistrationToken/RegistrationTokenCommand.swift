import ArgumentParser

/// The command group `registration-token`, which manages the initial access tokens of RFC 7591.
struct RegistrationTokenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "registration-token",
        abstract: "Manage the tokens with which apps may register themselves.",
        discussion: """
            An app sends such a token in the Authorization header when it registers itself (the initial access token \
            of RFC 7591). The policy for unregistered apps says whether the server accepts registrations at all, and \
            whether they need a token. A registration with a token is not limited by its source address.
            """,
        subcommands: [RegistrationTokenAdd.self, RegistrationTokenList.self, RegistrationTokenRemove.self]
    )
}
