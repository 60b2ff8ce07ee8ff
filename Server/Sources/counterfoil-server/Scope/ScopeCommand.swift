import ArgumentParser

/// The command group `scope`, which manages the scopes that clients can request.
struct ScopeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scope",
        abstract: "Manage the scopes that apps can request.",
        subcommands: [ScopeCreate.self, ScopeList.self, ScopeEdit.self, ScopeDelete.self]
    )
}
