import ArgumentParser

/// The command group `app`, which manages registered clients.
struct AppCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "app",
        abstract: "Manage the apps (clients) that users can sign in to.",
        subcommands: [
            AppCreate.self, AppList.self, AppShow.self, AppEdit.self, AppCheck.self, AppSecret.self, AppDelete.self,
        ]
    )
}
