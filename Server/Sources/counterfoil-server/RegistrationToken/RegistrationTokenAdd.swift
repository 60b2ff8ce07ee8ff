import ArgumentParser
import CounterfoilServer
@_spi(Counterfoil) import CounterfoilTokens

struct RegistrationTokenAdd: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add a token.",
        discussion: """
            The token is printed once and cannot be shown again. It permits any number of registrations until it \
            expires or is removed. Registered apps stay registered then.

            Example:
              counterfoil-server registration-token add "Build system" --days 30 \\
                --data-dir ./data
            """
    )

    @Argument(help: "The name by which you recognize the token, 1 to 100 characters.")
    var name: String

    @Option(name: .long, help: ArgumentHelp("The days until the token expires, 1 to 3650.", valueName: "days"))
    var days = ServerAdministration.standardTokenDays

    @OptionGroup var options: OperationOptions

    func validate() throws {
        guard ServerAdministration.isTokenName(name) else {
            throw ValidationError("The name of a token must have 1 to 100 visible characters.")
        }
        guard ServerAdministration.tokenDays.contains(days) else { throw ValidationError("--days must be 1 to 3650.") }
    }

    func run() async throws {
        let members: [String: JSONValue] = ["name": .string(name), "days": .integer(Int64(days))]
        try await options.withServer(creating: true) { server in
            let token = try await server.create("/registration-tokens", members)
                .record(options: ["name": "the name", "days": "--days"])
            if options.json { return try Output.json(token) }
            Output.line("token: \(token.shown("token"))")
            Output.note(
                "The token is shown only once. It expires at \(token.moment("expires_at")); to remove it earlier, run: "
                    + "counterfoil-server registration-token remove \(token.shown("id"))")
        }
    }
}
