import ArgumentParser
import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore
import Foundation

struct ClientSecretCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "secret",
        abstract: "Add a client secret to a web or service app, or delete one.",
        discussion: """
            A new secret is printed once and cannot be shown again. An app can have \(ClientSecretRecord.limit) \
            secrets, so that it can change to the new one before you delete the old one.

            Examples:
              counterfoil-server app secret CLIENT_ID --data-dir ./data
              counterfoil-server app secret CLIENT_ID --remove oldest --data-dir ./data
            """
    )

    @OptionGroup var argument: ClientArgument

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Delete a secret: oldest, or the start of its id as printed by app show.", valueName: "secret"))
    var remove: String?

    @OptionGroup var options: AdministrationOptions

    func validate() throws {
        guard remove.map({ $0.utf8.count >= 4 }) ?? true else {
            throw ValidationError(
                "--remove must be oldest, or at least the first 4 digits of the id that app show prints.")
        }
    }

    func run() async throws {
        try await options.withInstallation(creating: false) { installation in
            let client = try await installation.client(argument.clientID)
            guard client.isConfidential else {
                throw CommandFailure.refused(
                    "an app of the type \(client.type.rawValue) has no secret, because a secret in every copy of a "
                        + "program is not secret")
            }
            guard client.keys == nil || remove != nil else {
                throw CommandFailure.refused(
                    "the app authenticates with its keys, so a secret would be ignored; remove the keys first with: "
                        + "counterfoil-server app edit \(client.id) --jwks \"\"")
            }
            if let remove {
                try await end(remove, of: client, in: installation)
            } else {
                try await add(to: client, in: installation)
            }
        }
    }

    private func add(to client: RegisteredClient, in installation: Installation) async throws {
        let secret = ClientSecret()
        let record = ClientSecretRecord(
            digest: ArtefactDigest(of: secret), clientID: client.id, createdAt: installation.store.now())
        let event = installation.event(.clientSecret, client: client.id, detail: "created").named(.clientSecretCreated)
        switch try await installation.store.addClientSecret(record, recording: [event]) {
        case .added:
            guard options.json else {
                Output.line("client_secret: \(secret.exposed)")
                return Output.note("The client secret is shown only once. Store it where only the app can read it.")
            }
            try Output.json(["client_id": client.id.rawValue, "client_secret": secret.exposed])
        case .tooMany:
            throw CommandFailure.refused(
                "the app already has \(ClientSecretRecord.limit) secrets; delete one first with: "
                    + "counterfoil-server app secret \(client.id) --remove oldest")
        case .clientDeleted:
            throw CommandFailure.noClient(argument.clientID)
        }
    }

    private func end(_ which: String, of client: RegisteredClient, in installation: Installation) async throws {
        let secrets = try await installation.store.clientSecrets(of: client.id)
        let chosen =
            which == "oldest"
            ? Array(secrets.prefix(1)) : secrets.filter { $0.shortID.hasPrefix(which.lowercased()) }
        guard let secret = chosen.first else {
            throw CommandFailure.refused(
                secrets.isEmpty
                    ? "the app has no secret" : "no secret of the app has an id that starts with \(which)")
        }
        guard chosen.count == 1 else {
            throw CommandFailure.refused(
                "more than one secret has an id that starts with \(which); give more digits")
        }
        let event = installation.event(.clientSecret, client: client.id, detail: "deleted").named(.clientSecretDeleted)
        guard try await installation.store.removeClientSecret(secret.digest, of: client.id, recording: [event]) else {
            throw CommandFailure.temporary(
                "another command has just deleted this secret; see: counterfoil-server app show")
        }
        let left = secrets.count - 1
        if options.json {
            return try Output.json(Ended(id: secret.shortID, secretsLeft: left))
        }
        Output.line(
            "Deleted the secret \(secret.shortID) of \(client.displayName); "
                + (left == 0 ? "the app has no secret left and cannot authenticate." : "\(left) left."))
    }

    private struct Ended: Encodable {
        let id: String
        let secretsLeft: Int

        private enum CodingKeys: String, CodingKey {
            case id
            case secretsLeft = "secrets_left"
        }
    }
}
