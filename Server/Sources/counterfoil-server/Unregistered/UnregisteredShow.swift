import ArgumentParser
import CounterfoilSQLite
import CounterfoilServer

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

    @OptionGroup var options: AdministrationOptions

    func run() async throws {
        try await options.withInstallation(creating: false) { installation in
            let document = UnregisteredPolicyDocument(try await installation.store.unregisteredClientPolicy())
            if options.json { return try Output.json(document) }
            Output.line(document.words)
        }
    }
}
