import ArgumentParser
import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore
import Foundation

struct RegistrationTokenAdd: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add a token.",
        discussion: """
            The token is printed once and cannot be shown again. It permits any number of registrations until it \
            expires or is removed. Registered apps stay registered then.

            Example:
              counterfoil-server registration-token add "Build system" --days 30 \\
                --data-dir ./data
            """
    )

    @Argument(help: "The name by which you recognize the token, 1 to 100 characters.")
    var name: String

    @Option(name: .long, help: ArgumentHelp("The days until the token expires, 1 to 3650.", valueName: "days"))
    var days = ServerAdministration.standardTokenDays

    @OptionGroup var options: AdministrationOptions

    func validate() throws {
        guard ServerAdministration.isTokenName(name) else {
            throw ValidationError("The name of a token must have 1 to 100 visible characters.")
        }
        guard ServerAdministration.tokenDays.contains(days) else { throw ValidationError("--days must be 1 to 3650.") }
    }

    func run() async throws {
        try await options.withInstallation { installation in
            let (token, text) = try await installation.administration.addRegistrationToken(named: name, days: days)
            let document = RegistrationTokenDocument(token, newText: text)
            if options.json { return try Output.json(document) }
            Output.line("token: \(text.exposed)")
            Output.note(
                "The token is shown only once. It expires at \(Moment.text(token.expiresAt)); to remove it earlier, "
                    + "run: counterfoil-server registration-token remove \(token.shortID)")
        }
    }
}
