import ArgumentParser
import HTTPTypes

struct ClientResume: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "End the suspension of an app.",
        discussion: """
            Users can sign in to the app again, and the tokens that it had before are valid again until they expire.

            Example:
              counterfoil-server app resume CLIENT_ID --data-dir ./data
            """
    )

    @OptionGroup var argument: ClientArgument

    @OptionGroup var options: OperationOptions

    func run() async throws {
        try await options.withServer { server in
            if let former = try await server.record(at: argument.path), former.record("suspension") == nil {
                throw CommandFailure.refused("the app \(ClientOutput(former).id) is not suspended")
            }
            let client = try await server.change(.post, argument.path + "/resume")
                .record(missing: .noClient(argument.clientID))
            if options.json { return try Output.json(client) }
            Output.line("Resumed the app \(ClientOutput(client).title).")
        }
    }
}
