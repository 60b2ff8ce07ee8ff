import ArgumentParser
import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer
import Foundation

/// `app secret`.
struct AppSecret: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "secret",
        abstract: "Add a secret to a web or service application, or end one.",
        discussion: """
            A new secret is printed once and is nowhere else. An application may have \(ClientSecretRecord.limit) at a time, \
            so that the new one can take over before the old one is ended.

            Example:
              counterfoil-server app secret CLIENT_ID --data-dir ./data
              counterfoil-server app secret CLIENT_ID --remove oldest --data-dir ./data
            """
    )

    @Argument(help: "The client_id.")
    var clientID: String

    @Option(name: .long, help: "End a secret: oldest, or how its digest begins, as app show prints it.")
    var remove: String?

    @OptionGroup var options: AdministrationOptions

    func validate() throws {
        guard remove.map({ $0.utf8.count >= 4 }) ?? true else {
            throw ValidationError("--remove is oldest, or at least 4 digits of the digest that app show prints.")
        }
    }

    func run() async throws {
        try await options.withDirectory(creating: false) { directory in
            let client = try await directory.client(clientID)
            guard client.type.isConfidential else {
                throw CommandFailure.refused(
                    "an application of the type \(client.type.rawValue) has no secret: nothing that is in every copy of a "
                        + "program is one")
            }
            guard client.keys == nil || remove != nil else {
                throw CommandFailure.refused(
                    "the application authenticates with its keys, beside which no secret counts; take them away first with: "
                        + "counterfoil-server app edit \(client.id) --jwks \"\"")
            }
            if let remove {
                try await end(remove, of: client, in: directory)
            } else {
                try await add(to: client, in: directory)
            }
        }
    }

    private func add(to client: RegisteredClient, in directory: DataDirectory) async throws {
        let secret = ClientSecret()
        let record = ClientSecretRecord(digest: ArtefactDigest(of: secret), clientID: client.id, createdAt: Date())
        switch try await directory.store.addClientSecret(record) {
        case .added:
            await directory.note(.applicationSecret, client: client.id, detail: "created")
            guard options.json else {
                Output.line("client_secret: \(secret.exposed)")
                return Output.note("It is shown this once. Keep it where only the application can read it.")
            }
            try Output.json(["client_id": client.id.rawValue, "client_secret": secret.exposed])
        case .tooMany:
            throw CommandFailure.refused(
                "there are \(ClientSecretRecord.limit) secrets already; end one first with: counterfoil-server app secret "
                    + "\(client.id) --remove oldest")
        case .clientGone:
            throw CommandFailure.noApplication(clientID)
        }
    }

    private func end(_ which: String, of client: RegisteredClient, in directory: DataDirectory) async throws {
        let secrets = try await directory.store.clientSecrets(of: client.id)
        let chosen =
            which == "oldest"
            ? Array(secrets.prefix(1)) : secrets.filter { $0.digest.hexadecimal.hasPrefix(which.lowercased()) }
        guard let secret = chosen.first else {
            throw CommandFailure.refused(
                secrets.isEmpty
                    ? "the application has no secret" : "no secret of the application has a digest that begins so")
        }
        guard chosen.count == 1 else {
            throw CommandFailure.refused("more than one secret has a digest that begins so; write more of it")
        }
        guard try await directory.store.removeClientSecret(secret.digest, of: client.id) else {
            throw CommandFailure.mayPass("the secret was ended by somebody else meanwhile")
        }
        await directory.note(.applicationSecret, client: client.id, detail: "deleted")
        let left = secrets.count - 1
        if options.json {
            return try Output.json(Ended(digest: secret.digest.hexadecimal, secretsLeft: left))
        }
        Output.line(
            "Ended the secret \(secret.digest.hexadecimal.prefix(12)) of \(client.displayName); "
                + (left == 0 ? "it has none now and cannot authenticate." : "\(left) left."))
    }

    private struct Ended: Encodable {
        let digest: String
        let secretsLeft: Int

        private enum CodingKeys: String, CodingKey {
            case digest
            case secretsLeft = "secrets_left"
        }
    }
}
