import ArgumentParser
import CounterfoilSQLite
import CounterfoilServer

struct AppShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show the registration of an app.",
        discussion: "Example:\n  counterfoil-server app show CLIENT_ID --data-dir ./data"
    )

    @OptionGroup var app: AppArgument

    @OptionGroup var options: AdministrationOptions

    func run() async throws {
        try await options.withDirectory(creating: false) { directory in
            let client = try await directory.client(app.clientID)
            let document = AppDocument(
                client,
                secrets: try await directory.store.clientSecrets(of: client.id),
                exceptionUse: try await directory.store.pkceExceptionUse(of: client.id)
            )
            if options.json { return try Output.json(document) }
            Output.line(document.words)
        }
    }
}
