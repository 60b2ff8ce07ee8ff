import ArgumentParser
@_spi(Counterfoil) import CounterfoilTokens
import HTTPTypes

struct ClientEdit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Change the registration of an app.",
        discussion: """
            Only the given options change. A list replaces the whole list, and an empty value clears: --publisher "". \
            The type cannot change. An app that is vouched for or verified stays so. A service can request an added \
            scope without a user only after --machine-scope names it.

            Example:
              counterfoil-server app edit CLIENT_ID --consent-text words.md \\
                --access-token-lifetime 600 --data-dir ./data
            """
    )

    @OptionGroup var argument: ClientArgument

    @Option(name: .long, help: "The name shown to users.")
    var name: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The user who owns the app and finds it at /apps. Only administrators see it if the name is empty.",
            valueName: "user"))
    var developer: String?

    @OptionGroup(title: "Consent page") var presentation: ClientPresentationOptions
    @OptionGroup(title: "Requests") var requests: ClientRequestOptions
    @OptionGroup(title: "Tokens") var tokens: ClientTokenOptions
    @OptionGroup(title: "Policy") var policy: ClientPolicyOptions

    @Flag(name: .long, help: "Remove the logo of the app.")
    var removeLogo = false

    @OptionGroup var options: OperationOptions

    func validate() throws {
        guard !removeLogo || presentation.logo == nil else {
            throw ValidationError("--logo and --remove-logo cannot be combined.")
        }
    }

    func run() async throws {
        let registration = ClientOptions(presentation: presentation, requests: requests, tokens: tokens, policy: policy)
        var members = try registration.members(name: name, developer: developer)
        if removeLogo { members["logo_image"] = .null }
        // Not in validate(), so that the parser reports an unknown option first.
        guard !members.isEmpty else {
            throw ValidationError("Give at least one change. See: counterfoil-server app edit --help")
        }
        try await options.withServer { server in
            let former = try await server.client(argument)
            let answer = try await server.change(.patch, argument.path, ifMatch: former.tag, members)
            let record = try await server.record(of: argument, in: answer, options: ClientOptions.names)
            let client = ClientOutput(record)
            client.printWarnings()
            if options.json { return try client.printJSON() }
            Output.line(client.words)
        }
    }
}
