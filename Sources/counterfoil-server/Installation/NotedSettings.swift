import CounterfoilProtocol
import CounterfoilServer
import Foundation

/// The settings of a server that administration commands need to validate registrations, as texts by name.
///
/// A text that this version cannot read counts as missing.
struct NotedSettings: Sendable, Hashable {
    /// The names of the settings, which are file names in a data directory.
    private enum Name: String, CaseIterable {
        case issuer
        case callbackOrigin = "callback-origin"
        case plainSchemes = "plain-schemes"
        case developmentRedirectURIs = "development-redirect-uris"
        case endingsJournal = "endings-journal"
    }

    private let texts: [Name: String]

    /// Reads each setting, whose text can end in a newline.
    init(text: (_ name: String) -> String?) {
        var texts: [Name: String] = [:]
        for name in Name.allCases {
            texts[name] = text(name.rawValue)?.trimmingCharacters(in: .whitespacesAndNewlines)
        }
        self.texts = texts
    }

    /// The texts by the names of their settings.
    var named: [String: String] {
        Dictionary(uniqueKeysWithValues: texts.map { ($0.key.rawValue, $0.value) })
    }

    /// - Parameter endingsJournal: The path of the endings journal; nil for none.
    init(_ settings: ServerSettings, endingsJournal: String? = nil) {
        texts = [
            .issuer: settings.issuer.rawValue, .callbackOrigin: settings.callbackOrigin?.rawValue ?? "",
            .plainSchemes: settings.plainSchemes.sorted().joined(separator: "\n"),
            .developmentRedirectURIs: settings.allowsDevelopmentRedirectURIs ? "yes" : "no",
            .endingsJournal: endingsJournal ?? "",
        ]
    }

    var issuer: Issuer? { texts[.issuer].flatMap { try? Issuer($0) } }

    var callbackOrigin: CallbackOrigin? {
        guard let issuer, let text = texts[.callbackOrigin] else { return nil }
        return try? CallbackOrigin(text, issuer: issuer)
    }

    var plainSchemes: Set<String> {
        guard let text = texts[.plainSchemes] else { return ServerSettings.standardPlainSchemes }
        return Set(text.split(separator: "\n").map(String.init).filter(PlainSchemes.isOne))
    }

    /// The path of the endings journal, to which commands write, too; nil for none.
    var endingsJournal: String? { texts[.endingsJournal].flatMap { $0.isEmpty ? nil : $0 } }

    var allowsDevelopmentRedirectURIs: Bool { texts[.developmentRedirectURIs] != "no" }
}
