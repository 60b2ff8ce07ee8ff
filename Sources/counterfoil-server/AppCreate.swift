public import ArgumentParser
import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilSQLite
public import CounterfoilServer
import Foundation

/// `app create`.
struct AppCreate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Register an application.",
        discussion: """
            A web or service application gets a secret, which is printed once. A native application, a single-page \
            application and a device get none: nothing that is in every copy of a program is one.

            A redirect URI is one of three kinds: http://127.0.0.1/callback (a port of the device; whichever port the \
            application opens matches), com.example.app:/callback (a scheme of the application), \
            https://app.example.com/callback (an address that it has claimed).

            --client-id keeps the client_id of an application that moves here from another server, so that the copies in the \
            field need no change. It has letters, digits and - . _ ~ only, and must not be in use.

            Example:
              counterfoil-server app create --type native --name Lightbox \\
                --redirect-uri http://127.0.0.1/callback \\
                --scope openid --scope photos.read --data-dir ./data
            """
    )

    @Option(name: .long, help: "What it is.")
    var type: ClientType

    @Option(name: .long, help: "The name that people read.")
    var name: String

    @Option(
        name: .customLong("client-id"),
        help: ArgumentHelp("The client_id that it has already. (default: a new one)", valueName: "id"))
    var clientID: String?

    @OptionGroup var said: AppOptions

    @OptionGroup var options: AdministrationOptions

    func validate() throws {
        do { _ = try chosenID() } catch { throw ValidationError("--client-id: \(error).") }
    }

    private func chosenID() throws(ChosenClientIdentifier.Refusal) -> ClientIdentifier? {
        guard let clientID else { return nil }
        return try ChosenClientIdentifier(clientID, beside: .console).id
    }

    func run() async throws {
        let chosen = try chosenID()
        var draft = ApplicationDraft()
        draft.name = name
        try said.write(into: &draft)
        var policyDraft = PolicyDraft(.standard(for: type))
        // Who has the data directory runs this server, and knows whom it registers.
        policyDraft.isVouchedFor = true
        // So does the administrator who names the scopes of a service.
        policyDraft.machineScopes = said.machineScopes.isEmpty ? said.scopesWithoutUser(for: type) : []
        said.write(into: &policyDraft)
        let logo = try said.logo.flatMap { $0.isEmpty ? nil : try Logo.encoded(from: $0) }

        try await options.withDirectory { directory in
            let id = chosen ?? ClientIdentifier()
            let now = Date()
            let review = try await AppReview(of: type, id: id, owner: nil, in: directory)
            let checked = try review.check(draft, policy: policyDraft, now: now)
            let client = RegisteredClient(
                id: id, type: type, owner: nil, checked.application, policy: checked.policy ?? .standard(for: type),
                logo: logo?.id, now: now)
            let secret = type.isConfidential && client.keys == nil ? ClientSecret() : nil
            let record = secret.map {
                ClientSecretRecord(digest: ArtefactDigest(of: $0), clientID: id, createdAt: now)
            }
            switch try await directory.store.addClient(client, logo: logo, secret: record, ownerLimit: .max) {
            case .added:
                await directory.note(.application, client: id, detail: "registered")
                await directory.noteMachineAccess(from: nil, to: client)
                review.warn(of: draft)
                let document = ApplicationDocument(client, secrets: record.map { [$0] } ?? [], newSecret: secret)
                if options.json { return try Output.json(document) }
                Output.line(document.words)
                if secret != nil {
                    Output.note("The secret is shown this once. Keep it where only the application can read it.")
                }
            case .identifierTaken where chosen != nil:
                throw CommandFailure.refused(
                    "the client_id \(id) is in use; choose another one, or edit that application")
            case .identifierTaken: throw CommandFailure.mayPass("the new client_id was taken; try again")
            case .unknownScopes(let unknown): throw CommandFailure.unknownScopes(unknown)
            case .tooMany: throw CommandFailure.refused("there are as many applications as there may be")
            }
        }
    }
}

extension ClientType: ExpressibleByArgument {}
