import ArgumentParser

/// The command group `key`, for the keys that sign tokens.
struct KeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key",
        abstract: "Manage the keys that sign tokens.",
        subcommands: [KeyList.self, KeyRotate.self, KeyWithdraw.self]
    )
}
