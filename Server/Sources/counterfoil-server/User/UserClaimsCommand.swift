import ArgumentParser
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore

struct UserClaimsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "claims",
        abstract: "Show what an app would get to know about a user.",
        discussion: """
            The output is JSON: the claims about the user in the ID token, the access token and UserInfo, by what the \
            user has allowed the app or, if the user has allowed nothing yet, by all scopes of the app. An access \
            token for one API has only the claims of that API's scopes. Claims that a request names with the \
            parameter claims are not shown.

            Example:
              counterfoil-server user claims alice --client app_2b9yXyq0 \\
                --data-dir ./data
            """
    )

    @OptionGroup var argument: UserArgument

    @Option(name: .long, help: ArgumentHelp("The client_id of the app.", valueName: "client-id"))
    var client: String

    @OptionGroup var location: InstallationOption

    func run() async throws {
        try await location.withInstallation(creating: false) { installation in
            let user = try await installation.user(argument.name)
            guard let id = ClientIdentifier(client), let client = try await installation.store.client(id) else {
                throw CommandFailure.noClient(client)
            }
            guard let settings = installation.recorded.ofMetadata else {
                throw CommandFailure.refused(
                    "no server has run with this data, so its settings are not known; start the server once, then try "
                        + "again")
            }
            let previews = try await ClaimPreviews.opening(
                installation.store, serverKey: installation.serverKey, settings: settings)
            try Output.json(try await previews.preview(of: user, at: client))
        }
    }
}
