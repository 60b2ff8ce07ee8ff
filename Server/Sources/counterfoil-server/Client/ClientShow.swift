import ArgumentParser
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore
import Foundation

struct ClientShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show the registration of an app, and how it connects to the server.",
        discussion: """
            The ready configurations contain the values of the app. Where a library needs the client secret, they name \
            an environment variable such as CLIENT_SECRET.

            Examples:
              counterfoil-server app show CLIENT_ID --data-dir ./data
              counterfoil-server app show CLIENT_ID --configuration spring > application.yml
            """
    )

    @OptionGroup var argument: ClientArgument

    @Option(
        name: .customLong("configuration"),
        help: ArgumentHelp("Print only a ready configuration, such as spring or oidc-client-ts.", valueName: "name"))
    var configurationName: String?

    @OptionGroup var options: AdministrationOptions

    func validate() throws {
        guard configurationName == nil || !options.json else {
            throw ValidationError(
                "--configuration and --json cannot be combined; the JSON contains every configuration.")
        }
    }

    func run() async throws {
        try await options.withInstallation(creating: false) { installation in
            let client = try await installation.client(argument.clientID)
            let connection = try await ClientDocument.Connection(of: client, in: installation)
            if let configurationName {
                let text = try connection.configuration(named: configurationName)
                return Output.line(text.trimmingCharacters(in: .newlines))
            }
            let record = ClientRecord(
                client,
                developer: try await installation.developer(of: client),
                secrets: try await installation.store.clientSecrets(of: client.id),
                exceptionUse: try await installation.store.pkceExceptionUse(of: client.id),
                use: try await installation.store.use(of: client.id),
                developers: try await installation.store.developers(of: client.id).map(\.user.username))
            let document = ClientDocument(record, connection: connection)
            if options.json {
                try Output.json(document)
                return connection.warnIfUnknown()
            }
            Output.line(document.words)
        }
    }
}

extension ClientDocument.Connection {
    /// Prints a note on standard error if the document lacks the URLs of the server.
    func warnIfUnknown() {
        guard case .unknown = self else { return }
        Output.note(
            "note: the issuer is unknown until the server has started once, so the member connection is missing")
    }

    /// Returns the text of a ready configuration; fails the command if there is none with the name.
    fileprivate func configuration(named name: String) throws -> String {
        guard case .known(let connection) = self else {
            throw CommandFailure.refused(
                "the issuer is unknown until the server has started once; see: counterfoil-server serve --help")
        }
        let configurations = ReadyConfiguration.all(for: connection)
        guard let found = configurations.first(where: { $0.name == name }) else {
            throw CommandFailure.refused(
                configurations.isEmpty
                    ? "there is no ready configuration for this app"
                    : "there is no configuration \(name.prefix(40).debugDescription) for this app; choose one of "
                        + configurations.map(\.name).joined(separator: ", "))
        }
        return found.text
    }
}
