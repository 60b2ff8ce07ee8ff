import ArgumentParser
import HTTPTypes

struct UnregisteredShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show the policy for unregistered apps.",
        discussion: """
            The option --unregistered-clients of serve replaces the accepted kinds while that server runs.

            Example:
              counterfoil-server unregistered show --data-dir ./data
            """
    )

    @OptionGroup var options: OperationOptions

    func run() async throws {
        try await options.withServer { server in
            let policy = try await server.change(.get, "/unregistered/policy").record()
            try UnregisteredPolicyOutput(policy).print(json: options.json)
        }
    }
}
