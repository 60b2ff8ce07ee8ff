import ArgumentParser

/// The command group `key`, which lists and rotates the keys that sign tokens.
struct KeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key",
        abstract: "Manage the keys that sign tokens.",
        subcommands: [KeyList.self, KeyRotate.self]
    )
}
