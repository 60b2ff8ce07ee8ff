import ArgumentParser
import CounterfoilSQLite
import CounterfoilServer

struct UserShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show a user.",
        discussion: "Example:\n  counterfoil-server user show alice --data-dir ./data"
    )

    @OptionGroup var argument: UserArgument

    @OptionGroup var options: AdministrationOptions

    func run() async throws {
        try await options.withInstallation(creating: false) { installation in
            let document = UserDocument(try await installation.user(argument.name))
            if options.json { return try Output.json(document) }
            Output.line(document.words)
        }
    }
}
