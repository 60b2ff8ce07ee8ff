import ArgumentParser
import CounterfoilPages
import CounterfoilServer
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation

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

    /// Writes the given options into the body of a request; fails the command if a file cannot be used.
    func write(into members: inout [String: JSONValue]) throws {
        for (name, value) in [("publisher", publisher), ("policy_uri", privacyURI), ("tos_uri", termsURI)] {
            if let value { members[name] = .string(value) }
        }
        if let consentText {
            members["consent_text"] = .string(consentText.isEmpty ? "" : try InputFile.text(at: consentText))
        }
        if let logo { members["logo_image"] = logo.isEmpty ? .null : .string(try Self.image(at: logo)) }
    }

    /// Returns the image in a file in base64, scaled to the size of a logo, so that it fits into a request.
    private static func image(at path: String) throws(CommandFailure) -> String {
        let upload = try InputFile.bytes(at: path, limit: LogoEncoder.uploadLimit)
        do { return Data(try ContentFormats.standard.logo(upload).bytes).base64EncodedString() } catch {
            throw .refused("--logo: \(Localizer.english(error.text))")
        }
    }
}
