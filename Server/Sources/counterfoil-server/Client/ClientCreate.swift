public import ArgumentParser
import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore
import Foundation

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

    @OptionGroup var options: AdministrationOptions

    private var registration: ClientOptions {
        ClientOptions(presentation: presentation, requests: requests, tokens: tokens, policy: policy)
    }

    func validate() throws {
        do { _ = try chosenID() } catch { throw ValidationError("--client-id: \(error).") }
    }

    private func chosenID() throws(ChosenClientIdentifier.Refusal) -> ClientIdentifier? {
        guard let clientID else { return nil }
        return try ChosenClientIdentifier(clientID, beside: ServerPages.console.endpoints).id
    }

    func run() async throws {
        let chosen = try chosenID()
        var draft = ClientDraft()
        draft.name = name
        try registration.write(into: &draft)
        let getsStandardScopes = draft.useStandardScopes(for: type)
        var policyDraft = PolicyDraft(registering: type, for: draft.scopes)
        registration.write(into: &policyDraft)
        let logo = try registration.presentation.logo.flatMap { $0.isEmpty ? nil : try Logo.encoded(from: $0) }

        try await options.withInstallation { installation in
            let id = chosen ?? ClientIdentifier()
            let now = installation.store.now()
            let developer: User? =
                if let developer { try await installation.user(developer) } else { nil }
            let review = try await ClientReview(of: type, id: id, owner: developer?.id, in: installation)
            let checked = try review.check(draft, policy: policyDraft, now: now)
            let client = RegisteredClient(
                id: id, type: type, owner: developer?.id, checked.client,
                policy: checked.policy ?? .standard(for: type), approval: .approved, logo: logo?.id, now: now)
            let (outcome, secret, record) = try await installation.clients.register(client, logo: logo)
            switch outcome {
            case .added:
                review.warn(of: draft, policy: client.policy)
                let connection = try await ClientDocument.Connection(of: client, in: installation)
                let document = ClientDocument(
                    ClientRecord(
                        client, developer: developer?.username, secrets: record.map { [$0] } ?? [], newSecret: secret),
                    connection: connection)
                if options.json {
                    try Output.json(document)
                    return connection.warnIfUnknown()
                }
                Output.line(document.words)
                if getsStandardScopes {
                    Output.note("note: no --scope was given, so the app may request \(client.scope)")
                }
                if secret != nil {
                    Output.note("The client secret is shown only once. Store it where only the app can read it.")
                }
            case .identifierTaken where chosen != nil:
                throw CommandFailure.refused(
                    "the client_id \(id) is in use; choose another one, or edit that app")
            case .identifierBeingFreed:
                throw CommandFailure.temporary(
                    "records of a deleted app with the client_id \(id) are left; a running server deletes them within "
                        + "a minute, and so does: counterfoil-server app delete \(id)")
            case .identifierTaken: throw CommandFailure.temporary("the generated client_id is in use; try again")
            case .unknownScopes(let unknown): throw CommandFailure.unknownScopes(unknown)
            case .ownerNotFound: throw CommandFailure.refused("the owner of the app does not exist")
            case .tooMany: throw CommandFailure.refused("the limit of registered apps is reached; delete one first")
            }
        }
    }
}

extension ClientType: ExpressibleByArgument {}
