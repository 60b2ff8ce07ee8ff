import ArgumentParser
import HTTPTypes

struct BrandingShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show the branding.",
        discussion: "Example:\n  counterfoil-server branding show --data-dir ./data"
    )

    @OptionGroup var options: OperationOptions

    func run() async throws {
        try await options.withServer { server in
            try BrandingOutput(try await server.change(.get, "/branding").record()).print(json: options.json)
        }
    }
}
