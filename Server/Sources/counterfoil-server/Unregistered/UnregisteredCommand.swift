import ArgumentParser

/// The command group `unregistered`, which manages the clients that no person registered, and the policy for them.
struct UnregisteredCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unregistered",
        abstract: "Manage unregistered apps, and the policy for them.",
        discussion: """
            An unregistered app describes itself in a document, whose URL is its client_id, or registers itself at the \
            registration endpoint. The server accepts none until the policy does.
            """,
        subcommands: [
            UnregisteredShow.self, UnregisteredEdit.self, UnregisteredList.self, UnregisteredAdopt.self,
            UnregisteredDelete.self, UnregisteredDeleteHost.self,
        ]
    )
}
