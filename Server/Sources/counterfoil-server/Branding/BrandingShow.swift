import ArgumentParser
import CounterfoilSQLite
import CounterfoilServer

struct BrandingShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show the branding.",
        discussion: "Example:\n  counterfoil-server branding show --data-dir ./data"
    )

    @OptionGroup var options: AdministrationOptions

    func run() async throws {
        try await options.withInstallation(creating: false) { installation in
            let document = BrandingDocument(try await installation.store.branding())
            if options.json { return try Output.json(document) }
            Output.line(document.words)
        }
    }
}
