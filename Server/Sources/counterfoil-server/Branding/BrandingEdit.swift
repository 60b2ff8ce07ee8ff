import ArgumentParser
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import HTTPTypes

struct BrandingEdit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Change the branding.",
        discussion: """
            Only the given options change, and an empty value clears: --support-uri "". The consent page shows the \
            text and the privacy policy of the service in addition to those of the app. Each language has its own; \
            without one, the English version is shown. Upload the logo at /admin/branding.

            Example:
              counterfoil-server branding edit --language nb --consent-text words.md \\
                --privacy-uri https://example.com/personvern --data-dir ./data
            """
    )

    @Option(name: .long, help: "The name of the service, 1 to 60 characters.")
    var name: String?

    @Option(name: .long, help: ArgumentHelp("The colour of buttons and links, such as #2352c5.", valueName: "colour"))
    var accent: String?

    @Option(
        name: .customLong("support-uri"),
        help: ArgumentHelp("Where users get help: an https or mailto URI.", valueName: "uri"))
    var supportURI: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "A Markdown file with the service's text for the consent page.", valueName: "file.md"))
    var consentText: String?

    @Option(
        name: .customLong("privacy-uri"),
        help: ArgumentHelp("The https URL of the service's privacy policy.", valueName: "url"))
    var privacyURI: String?

    @Option(name: .long, help: "The language of the text and the privacy policy: en, de, nb, fr or es.")
    var language = Language.standard.rawValue

    @OptionGroup var options: OperationOptions

    func validate() throws {
        guard Language(rawValue: language) != nil else {
            throw ValidationError("--language must be en, de, nb, fr or es.")
        }
    }

    func run() async throws {
        // Not in validate(), so that the parser reports an unknown option first.
        guard [name, accent, supportURI, consentText, privacyURI].contains(where: { $0 != nil }) else {
            throw ValidationError("Give at least one change. See: counterfoil-server branding edit --help")
        }
        let members = try members
        try await options.withServer(creating: true) { server in
            let former = try await server.change(.get, "/branding").record()
            let branding = try await server.change(.patch, "/branding", ifMatch: former.tag, members)
                .record(options: [
                    "site_name": "--name", "accent": "--accent", "support_uri": "--support-uri",
                    "statements/\(language)/text": "--consent-text",
                    "statements/\(language)/privacy_uri": "--privacy-uri",
                ])
            try BrandingOutput(branding).print(json: options.json)
        }
    }

    /// The body of the request.
    private var members: [String: JSONValue] {
        get throws {
            var members: [String: JSONValue] = [:]
            if let name { members["site_name"] = .string(name) }
            if let accent { members["accent"] = .string(accent) }
            if let supportURI { members["support_uri"] = .string(supportURI) }
            var statement: [String: JSONValue] = [:]
            if let consentText {
                statement["text"] = .string(consentText.isEmpty ? "" : try InputFile.text(at: consentText))
            }
            if let privacyURI { statement["privacy_uri"] = .string(privacyURI) }
            if !statement.isEmpty { members["statements"] = .object([language: .object(statement)]) }
            return members
        }
    }
}
