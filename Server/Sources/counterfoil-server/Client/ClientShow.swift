import ArgumentParser

struct ClientShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show the registration of an app, and how it connects to the server.",
        discussion: """
            The ready configurations contain the values of the app. Where a library needs the client secret, they name \
            an environment variable such as CLIENT_SECRET.

            Examples:
              counterfoil-server app show CLIENT_ID --data-dir ./data
              counterfoil-server app show CLIENT_ID --configuration spring > application.yml
            """
    )

    @OptionGroup var argument: ClientArgument

    @Option(
        name: .customLong("configuration"),
        help: ArgumentHelp("Print only a ready configuration, such as spring or oidc-client-ts.", valueName: "name"))
    var configurationName: String?

    @OptionGroup var options: OperationOptions

    func validate() throws {
        guard configurationName == nil || !options.json else {
            throw ValidationError(
                "--configuration and --json cannot be combined; the JSON contains every configuration.")
        }
    }

    func run() async throws {
        try await options.withServer { server in
            let client = ClientOutput(try await server.client(argument), showsConnection: true)
            if let configurationName { return Output.line(try client.configuration(named: configurationName)) }
            if options.json { return try client.printJSON() }
            Output.line(client.words)
        }
    }
}
