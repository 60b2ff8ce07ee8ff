import ArgumentParser
import CounterfoilServer
import HTTPTypes

struct UnregisteredAdopt: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "adopt",
        abstract: "Make an app with a document a registered app.",
        discussion: """
            The server keeps the app as its document describes it now, and never reads the document or its keys again. \
            The app gets the scopes and lifetimes that the policy allows now. Users keep what they have allowed. Edit \
            the app with: app edit. To register an app that no user has allowed anything yet, use: app create \
            --client-id URL.

            Example:
              counterfoil-server unregistered adopt https://app.example.com/client.json \\
                --data-dir ./data
            """
    )

    @OptionGroup var argument: ClientArgument

    @OptionGroup var options: OperationOptions

    func run() async throws {
        try await options.withServer { server in
            let answer = try await server.change(.get, argument.unregisteredPath)
            guard answer.status != .notFound else { throw try await server.notUnregistered(argument) }
            let adopted = try await server.change(
                .post, argument.unregisteredPath + "/adopt", ifMatch: try answer.record().tag
            ).record()
            if options.json { return try Output.json(adopted) }
            Output.line(ClientOutput(adopted).words)
        }
    }
}
