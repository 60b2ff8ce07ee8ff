import ArgumentParser
import CounterfoilPages
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore

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

    @OptionGroup var options: AdministrationOptions

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
        guard let language = Language(rawValue: language) else { return }
        let text = try consentText.map { $0.isEmpty ? "" : try InputFile.text(at: $0) }
        try await options.withInstallation { installation in
            let former = try await installation.store.branding()
            var draft = BrandingDraft(former)
            if let name { draft.siteName = name }
            if let accent { draft.accent = accent }
            if let supportURI { draft.supportURI = supportURI }
            var statement = draft.statements[language] ?? BrandingDraft.Statement()
            if let text { statement.text = text }
            if let privacyURI { statement.privacyURI = privacyURI }
            draft.statements[language] = statement

            let (changed, problems) = draft.checked(revision: former.revision, formats: .standard)
            guard problems.isEmpty else {
                throw CommandFailure.refused(problems.map { Localizer.english($0.text) }.joined(separator: " "))
            }
            let event = installation.event(.setting, detail: changed.difference(from: former))
            switch try await installation.store.updateBranding(changed, logo: .keep, recording: [event]) {
            case .updated:
                let document = BrandingDocument(try await installation.store.branding())
                if options.json { return try Output.json(document) }
                Output.line(document.words)
            case .changedMeanwhile:
                throw CommandFailure.temporary("the branding was changed at the same time; try again")
            }
        }
    }
}
