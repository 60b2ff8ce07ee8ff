import ArgumentParser
import CounterfoilServer
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import HTTPTypes

struct ClientSuspend: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "suspend",
        abstract: "Stop an app at once, without deleting anything.",
        discussion: """
            No user can sign in to the app, it gets no tokens, and introspection reports its tokens as inactive. An \
            API that verifies tokens itself accepts them until they expire. Everything continues after: app resume \
            CLIENT_ID. The developer reads the reason at /apps.

            Example:
              counterfoil-server app suspend CLIENT_ID \\
                --reason "It sends mail to all contacts." --data-dir ./data
            """
    )

    @OptionGroup var argument: ClientArgument

    @Option(name: .long, help: ArgumentHelp("The reason, 1 to 500 characters on one line.", valueName: "text"))
    var reason: String

    @OptionGroup var options: OperationOptions

    func validate() throws {
        guard ClientSuspension.reason(reason) != nil else {
            throw ValidationError("The reason must be 1 to 500 visible characters on one line.")
        }
    }

    func run() async throws {
        try await options.withServer { server in
            let answer = try await server.change(.post, argument.path + "/suspend", ["reason": .string(reason)])
            guard !answer.isProblem("suspended-already") else {
                throw CommandFailure.refused("the app \(argument.clientID.visible) is suspended already")
            }
            let client = try answer.record(
                options: ["reason": "--reason"], missing: .noClient(argument.clientID))
            if options.json { return try Output.json(client) }
            Output.line("Suspended the app \(ClientOutput(client).title).")
        }
    }
}
