import ArgumentParser
import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore

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
        try await options.withInstallation(creating: false) { installation in
            let resource = try await installation.resource(registered.uri)
            guard let secret = try await installation.registry.replaceSecret(of: resource.resource) else {
                throw CommandFailure.deletedMeanwhile
            }
            try ResourceDocument(resource, newSecret: secret).print(json: options.json)
        }
    }
}
