import ArgumentParser
import CounterfoilStore

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

    @OptionGroup var options: AdministrationOptions

    func run() async throws {
        try await options.withInstallation(creating: false) { installation in
            try await installation.decide(
                .resume, on: argument, json: options.json, done: "Resumed", otherwise: "is not suspended")
        }
    }
}
