import ArgumentParser
import CounterfoilServer
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import HTTPTypes

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

    @OptionGroup var options: OperationOptions

    func validate() throws {
        guard remove.map({ $0.utf8.count >= 4 }) ?? true else {
            throw ValidationError(
                "--remove must be oldest, or at least the first 4 digits of the id that app show prints.")
        }
    }

    func run() async throws {
        try await options.withServer { server in
            if let remove { try await end(remove, by: server) } else { try await add(by: server) }
        }
    }

    private func add(by server: any AdministrationTransport) async throws {
        let answer = try await server.create(argument.path + "/secrets")
        guard !answer.isProblem("too-many-secrets") else {
            throw CommandFailure.refused(
                "the app already has \(ClientSecretRecord.limit) secrets; delete one first with: "
                    + "counterfoil-server app secret \(argument.clientID.visible) --remove oldest")
        }
        let secret = try await server.record(of: argument, in: answer)
        if options.json { return try Output.json(secret) }
        Output.line("client_secret: \(secret.text("client_secret") ?? "")".visible)
        Output.note("The client secret is shown only once. Store it where only the app can read it.")
    }

    private func end(_ which: String, by server: any AdministrationTransport) async throws {
        let client = try await server.client(argument)
        let secrets = client.records("client_secrets").compactMap { $0.text("id") }
        let chosen = which == "oldest" ? Array(secrets.prefix(1)) : secrets.filter { $0.hasPrefix(which.lowercased()) }
        guard let id = chosen.first else {
            throw CommandFailure.refused(
                secrets.isEmpty
                    ? "the app has no secret" : "no secret of the app has an id that starts with \(which)")
        }
        guard chosen.count == 1 else {
            throw CommandFailure.refused(
                "more than one secret has an id that starts with \(which); give more digits")
        }
        try await server.change(.delete, argument.path + "/secrets/" + AdministrationOperation.segment(id)).accepted(
            missing: .temporary("another command has just deleted this secret; see: counterfoil-server app show"))
        let left = secrets.count - 1
        if options.json {
            return try Output.json(AdministrationRecord(["id": .string(id), "secrets_left": .integer(Int64(left))]))
        }
        Output.line(
            "Deleted the secret \(id.visible) of \(ClientOutput(client).name); "
                + (left == 0 ? "the app has no secret left and cannot authenticate." : "\(left) left."))
    }
}
