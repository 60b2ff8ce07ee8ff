import ArgumentParser
import CounterfoilServer

/// The options of `app create` and `app edit` for what users see of a client: its publisher, text, links and logo.
struct ClientPresentationOptions: ParsableArguments {
    @Option(name: .long, help: ArgumentHelp("The publisher shown to users.", valueName: "name"))
    var publisher: String?

    @Option(
        name: .long,
        help: ArgumentHelp("A Markdown file with the app's text for the consent page.", valueName: "file.md"))
    var consentText: String?

    @Option(
        name: .customLong("privacy-uri"), help: ArgumentHelp("The https URL of its privacy policy.", valueName: "url"))
    var privacyURI: String?

    @Option(
        name: .customLong("terms-uri"), help: ArgumentHelp("The https URL of its terms of service.", valueName: "url"))
    var termsURI: String?

    @Option(name: .long, help: ArgumentHelp("Its logo, a PNG or JPEG file.", valueName: "file"))
    var logo: String?

    /// Whether any option is given.
    var hasChanges: Bool { [publisher, consentText, privacyURI, termsURI, logo].contains { $0 != nil } }

    /// Replaces the values of the given options in a draft, except the logo, which a draft does not contain.
    func write(into draft: inout ClientDraft) throws {
        if let publisher { draft.publisher = publisher }
        if let consentText { draft.consentText = consentText.isEmpty ? "" : try InputFile.text(at: consentText) }
        if let privacyURI { draft.privacyURI = privacyURI }
        if let termsURI { draft.termsURI = termsURI }
    }
}
