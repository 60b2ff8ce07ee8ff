import ArgumentParser
import CounterfoilServer
import HTTPTypes

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

    @OptionGroup(title: "Another machine") var remote: RemoteOptions

    func run() async throws {
        try await remote.withTransport(on: location, creating: false) { server in
            let user = try await server.user(argument)
            let query = "?client_id=" + AdministrationOperation.segment(client)
            try Output.json(
                try await server.change(.get, user.userPath + "/claims" + query)
                    .record(missing: argument.notFound, refusals: ["invalid-parameters": .noClient(client)]))
        }
    }
}
