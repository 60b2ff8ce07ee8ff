public import ArgumentParser
import CounterfoilConsole
import CounterfoilServer
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens

struct ClientCreate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Register an app.",
        discussion: """
            A web or service app gets a client secret, which is printed once. Native apps, single-page apps and \
            devices get none, because a secret in every copy of a program is not secret.

            A redirect URI is of one of three kinds:
              http://127.0.0.1/callback         loopback; every port matches a native app
              com.example.app:/callback         private-use scheme
              https://app.example.com/callback  https URL of the app

            A web or single-page app may have a loopback URI for development, such as \
            http://localhost:5173/callback. If it has a port, only that port matches. Users are asked for consent \
            each time.

            Without --scope, the app may request openid, profile and email; a service may request nothing.

            --client-id keeps the client_id of an app that moves here from another server, so that installed copies \
            still work. It has only letters, digits and - . _ ~, or is the https URL of a client document, which the \
            server then never reads. It must not be in use.

            Example:
              counterfoil-server app create --type native --name Lightbox \\
                --redirect-uri http://127.0.0.1/callback \\
                --scope openid --scope photos.read --data-dir ./data
            """
    )

    @Option(name: .long, help: "The type of the app.")
    var type: ClientType

    @Option(name: .long, help: "The name shown to users.")
    var name: String

    @Option(
        name: .customLong("client-id"),
        help: ArgumentHelp("The existing client_id of the app. (default: a new one)", valueName: "id"))
    var clientID: String?

    @Option(name: .long, help: ArgumentHelp("The user who owns the app and finds it at /apps.", valueName: "user"))
    var developer: String?

    @OptionGroup(title: "Consent page") var presentation: ClientPresentationOptions
    @OptionGroup(title: "Requests") var requests: ClientRequestOptions
    @OptionGroup(title: "Tokens") var tokens: ClientTokenOptions
    @OptionGroup(title: "Policy") var policy: ClientPolicyOptions

    @OptionGroup var options: OperationOptions

    func validate() throws {
        guard let clientID else { return }
        do { _ = try ChosenClientIdentifier(clientID, beside: ServerPages.console.endpoints) } catch {
            throw ValidationError("--client-id: \(error).")
        }
    }

    func run() async throws {
        let registration = ClientOptions(presentation: presentation, requests: requests, tokens: tokens, policy: policy)
        var members = try registration.members(name: name, developer: developer)
        members["application_type"] = .string(type.rawValue)
        if let clientID { members["client_id"] = .string(clientID) }
        try await options.withServer(creating: true) { server in
            let answer = try await server.create("/clients", members)
            if let clientID { try checkUse(of: clientID, in: answer) }
            let record = try answer.record(options: ClientOptions.names)
            let client = ClientOutput(record, showsConnection: true)
            client.printWarnings()
            if options.json { return try client.printJSON() }
            Output.line(client.words)
            if requests.scopes.text.isEmpty, type != .service {
                Output.note("note: no --scope was given, so the app may request \(record.text("scope")?.visible ?? "")")
            }
            if record.text("client_secret") != nil {
                Output.note("The client secret is shown only once. Store it where only the app can read it.")
            }
        }
    }

    /// Fails the command if another app has or had the chosen identifier.
    private func checkUse(of clientID: String, in answer: AdministrationResponse) throws(CommandFailure) {
        if answer.isProblem("client-id-taken") {
            throw .refused("the client_id \(clientID) is in use; choose another one, or edit that app")
        }
        if answer.isProblem("client-id-being-freed") {
            throw .temporary(
                "records of a deleted app with the client_id \(clientID) are left; a running server deletes them within "
                    + "a minute, and so does: counterfoil-server app delete \(clientID)")
        }
    }
}

extension ClientType: ExpressibleByArgument {}
