import ArgumentParser
import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer

struct ResourceSecret: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "secret",
        abstract: "Replace the client secret of an API.",
        discussion: """
            The new secret is printed once and cannot be shown again. The previous secret is invalid from then on.

            Example:
              counterfoil-server resource secret https://api.example.com --data-dir ./data
            """
    )

    @OptionGroup var registered: ResourceArgument

    @OptionGroup var options: AdministrationOptions

    func run() async throws {
        try await options.withDirectory(creating: false) { directory in
            let resource = try await directory.resource(registered.uri)
            let secret = ClientSecret()
            let event = directory.event(.setting, detail: "replaced the secret of the API \(resource.resource)")
            let isReplaced = try await directory.store.replaceSecret(
                of: resource.resource, with: ArtefactDigest(of: secret), recording: [event])
            guard isReplaced else { throw CommandFailure.temporary("another command has just deleted this API") }
            try ResourceDocument(resource, newSecret: secret).print(json: options.json)
        }
    }
}
