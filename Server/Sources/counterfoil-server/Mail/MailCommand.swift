import ArgumentParser

/// The command group `mail`, for the mails that the server sends.
struct MailCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mail",
        abstract: "Send a test mail.",
        subcommands: [MailTest.self]
    )
}
