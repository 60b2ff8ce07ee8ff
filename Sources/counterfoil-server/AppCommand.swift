import ArgumentParser

/// `app`: the applications that may ask people to sign in.
struct AppCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "app",
        abstract: "The applications that may ask people to sign in.",
        subcommands: [
            AppCreate.self, AppList.self, AppShow.self, AppEdit.self, AppCheck.self, AppSecret.self, AppDelete.self,
        ]
    )
}
