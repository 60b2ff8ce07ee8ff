import ArgumentParser

struct ResourceSecret: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "secret",
        abstract: "Replace the client secret of an API.",
        discussion: """
            The new secret is printed once and cannot be shown again. The previous secret is invalid from then on.

            Example:
              counterfoil-server resource secret https://api.example.com --data-dir ./data
            """
    )

    @OptionGroup var registered: ResourceArgument

    @OptionGroup var options: OperationOptions

    func run() async throws {
        try await options.withServer { server in
            let (path, _) = try await server.api(registered)
            let api = try await server.create(path + "/secret").record(missing: registered.notFound)
            try ResourceOutput(api).print(json: options.json)
        }
    }
}
