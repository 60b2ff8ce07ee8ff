import ArgumentParser
@_spi(Counterfoil) import CounterfoilTokens

struct ScopeCreate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Create a scope.",
        discussion: """
            Example:
              counterfoil-server scope create photos.read \\
                --description "See your photos and albums" \\
                --text "de=Ihre Fotos und Alben sehen" --data-dir ./data
            """
    )

    @Argument(help: "The name, without spaces, such as photos.read.")
    var name: String

    @Option(name: .long, help: ScopeOptions.descriptionHelp)
    var description: String

    @OptionGroup var properties: ScopeOptions

    @OptionGroup var options: OperationOptions

    func validate() throws {
        try ScopeOptions.check(name: name)
        try ScopeOptions.check(description)
    }

    func run() async throws {
        var members: [String: JSONValue] = ["scope": .string(name), "description": .string(description)]
        properties.write(into: &members)
        try await options.withServer(creating: true) { server in
            let scope = try await server.create("/scopes", members)
                .record(options: ScopeOptions.options.merging(["scope": name]) { $1 })
            if options.json { return try Output.json(scope) }
            Output.line("Created the scope \(name). Assign it to apps with: counterfoil-server app edit")
        }
    }
}
