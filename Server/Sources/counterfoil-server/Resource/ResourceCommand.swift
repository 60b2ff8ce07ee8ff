import ArgumentParser

/// The command group `resource`, which manages the APIs that accept tokens of this server.
struct ResourceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resource",
        abstract: "Manage the APIs that accept tokens of this server.",
        subcommands: [
            ResourceCreate.self, ResourceList.self, ResourceEdit.self, ResourceSecret.self, ResourceDelete.self,
        ]
    )
}
