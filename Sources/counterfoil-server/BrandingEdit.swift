import ArgumentParser
import CounterfoilSQLite
import CounterfoilServer

/// `branding edit`.
struct BrandingEdit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Change the look of the pages, or what the service says on the consent page.",
        discussion: """
            Only what is given changes, and an empty value clears: --support-uri "". The text and the privacy policy are \
            those of the service, shown beside those of the application. They are of one language; what a language lacks \
            is shown in English. The picture is chosen at /admin/branding.

            Example:
              counterfoil-server branding edit --language nb --consent-text words.md \\
                --privacy-uri https://example.com/personvern --data-dir ./data
            """
    )

    @Option(name: .long, help: "The name of the service, 1 to 60 characters.")
    var name: String?

    @Option(name: .long, help: "The colour of buttons and links, such as #2352c5.")
    var accent: String?

    @Option(name: .customLong("support-uri"), help: "Where people get help: an https address or mailto:.")
    var supportURI: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "A file with the words of the service for the consent page, in Markdown.", valueName: "file.md"))
    var consentText: String?

    @Option(name: .customLong("privacy-uri"), help: "The https address of the privacy policy of the service.")
    var privacyURI: String?

    @Option(name: .long, help: "The language of the text and the privacy policy: en, de, nb, fr or es.")
    var language = Language.standard.rawValue

    @OptionGroup var options: AdministrationOptions

    func validate() throws {
        guard [name, accent, supportURI, consentText, privacyURI].contains(where: { $0 != nil }) else {
            throw ValidationError("Say what to change. See: counterfoil-server branding edit --help")
        }
        guard Language(rawValue: language) != nil else {
            throw ValidationError("--language is en, de, nb, fr or es.")
        }
    }

    func run() async throws {
        guard let language = Language(rawValue: language) else { return }
        let text = try consentText.map { $0.isEmpty ? "" : try InputFile.text(at: $0) }
        try await options.withDirectory { directory in
            let former = try await directory.store.branding()
            var draft = BrandingDraft(former)
            if let name { draft.siteName = name }
            if let accent { draft.accent = accent }
            if let supportURI { draft.supportURI = supportURI }
            var statement = draft.statements[language] ?? BrandingDraft.Statement()
            if let text { statement.text = text }
            if let privacyURI { statement.privacyURI = privacyURI }
            draft.statements[language] = statement

            let (changed, problems) = draft.checked(revision: former.revision)
            guard problems.isEmpty else {
                throw CommandFailure.refused(problems.map { Words.english($0.text) }.joined(separator: " "))
            }
            switch try await directory.store.updateBranding(changed, logo: .keep) {
            case .updated:
                await directory.note(.setting, detail: changed.difference(from: former))
                let document = BrandingDocument(try await directory.store.branding())
                if options.json { return try Output.json(document) }
                Output.line(document.words)
            case .changedMeanwhile:
                throw CommandFailure.mayPass("somebody else has changed the branding at the same time; try again")
            }
        }
    }
}
