import ArgumentParser
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore

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
            let user = try await installation.user(argument.name)
            guard let overview = try await installation.store.userOverview(user.id) else {
                throw CommandFailure.noUser(argument.name)
            }
            let document = UserDocument(overview, try await installation.store.attributes(of: user.id))
            if options.json { return try Output.json(document) }
            Output.line(document.words)
        }
    }
}
