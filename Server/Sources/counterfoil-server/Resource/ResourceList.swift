import ArgumentParser

struct ResourceList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the APIs, sorted by URI.",
        discussion: "Example:\n  counterfoil-server resource list --data-dir ./data"
    )

    @OptionGroup var options: OperationOptions

    func run() async throws {
        try await options.withServer { server in
            let apis = try await server.items(of: "/apis")
            if options.json { return try Output.json(apis) }
            if apis.isEmpty {
                return Output.line("No API is registered. See: counterfoil-server resource create --help")
            }
            for api in apis { Output.line(ResourceOutput(api).line) }
        }
    }
}
