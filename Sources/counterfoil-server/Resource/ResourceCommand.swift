import ArgumentParser

/// `resource`: the APIs that accept tokens.
struct ResourceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resource",
        abstract: "Manage the APIs that accept tokens of this server.",
        subcommands: [ResourceCreate.self, ResourceList.self, ResourceSecret.self, ResourceDelete.self]
    )
}
