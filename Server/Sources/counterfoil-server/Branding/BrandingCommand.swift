import ArgumentParser

/// The command group `branding`, which shows and changes the branding of the pages.
struct BrandingCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "branding",
        abstract: "Manage the branding of pages and the service's text on the consent page.",
        subcommands: [BrandingShow.self, BrandingEdit.self]
    )
}
