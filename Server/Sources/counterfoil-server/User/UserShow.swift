import ArgumentParser
import HTTPTypes

struct UserShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show a user.",
        discussion: "Example:\n  counterfoil-server user show alice --data-dir ./data"
    )

    @OptionGroup var argument: UserArgument

    @OptionGroup var options: OperationOptions

    func run() async throws {
        try await options.withServer { server in
            let user = try await server.user(argument)
            let attributes = try await server.change(.get, user.userPath + "/attributes")
                .record(missing: argument.notFound)
            try UserOutput(user, attributes: attributes).print(json: options.json)
        }
    }
}
