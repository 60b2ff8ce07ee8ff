import ArgumentParser
import Foundation

/// The command `health`, which asks a running server for its state.
///
/// It is the health check of a container image that contains no shell and no other HTTP client.
struct HealthCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "health",
        abstract: "Ask a running server whether it is alive or ready.",
        discussion: """
            Sends one GET request, and succeeds if the status is 200. It is meant for health checks of containers. The \
            certificate of a loopback address is not verified, because it names the host of the issuer.

            A check after which a server is restarted must ask /livez: a restart does not bring back a database. \
            /readyz also fails while the server cannot serve sign-ins because of its database.

            Example:
              counterfoil-server health http://127.0.0.1:8080/livez
            """
    )

    @Argument(help: ArgumentHelp("The URL of /livez or /readyz.", valueName: "url"))
    var url: String

    @Option(name: .long, help: ArgumentHelp("The number of seconds to wait for the answer.", valueName: "seconds"))
    var timeout = 5

    // Accepted as by every command, and not read.
    @Option(SettingsFileOption.hidden) var settingsFile: String?

    func validate() throws {
        guard HealthProbe(url: url, seconds: timeout) != nil else {
            throw ValidationError("The URL must be http or https, with a host and without a user name.")
        }
        guard (1...300).contains(timeout) else {
            throw ValidationError("--timeout must be a number of seconds from 1 to 300.")
        }
    }

    func run() async throws {
        guard let probe = HealthProbe(url: url, seconds: timeout) else { return }
        switch await probe.outcome() {
        case .healthy(let answer): Output.line(answer)
        case .unhealthy(let status, let answer):
            throw CommandFailure.temporary("\(url) answered with status \(status): \(answer)")
        case .unreachable(let reason): throw CommandFailure.temporary("\(url) does not answer: \(reason)")
        }
    }
}
