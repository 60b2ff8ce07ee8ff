import ArgumentParser

/// The command group `app`, which manages registered clients.
struct ClientCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "app",
        abstract: "Manage the apps (clients) that users can sign in to.",
        subcommands: [
            ClientCreate.self, ClientList.self, ClientShow.self, ClientEdit.self, ClientCheck.self,
            ClientSecretCommand.self, ClientDevelopersCommand.self, ClientApprove.self, ClientSuspend.self,
            ClientResume.self, ClientDelete.self,
        ]
    )
}
