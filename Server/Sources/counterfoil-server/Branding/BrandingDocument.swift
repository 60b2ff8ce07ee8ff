import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore

/// The branding in the output of commands.
struct BrandingDocument: Encodable {
    private let branding: Branding

    init(_ branding: Branding) { self.branding = branding }

    private struct Statement: Encodable {
        let text: String?
        let privacyURI: String?

        private enum CodingKeys: String, CodingKey {
            case text
            case privacyURI = "privacy_uri"
        }
    }

    private enum CodingKeys: String, CodingKey {
        case accent, statements
        case siteName = "site_name"
        case supportURI = "support_uri"
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encodeIfPresent(branding.siteName, forKey: .siteName)
        try values.encodeIfPresent(branding.accent?.rawValue, forKey: .accent)
        try values.encodeIfPresent(branding.supportURI?.rawValue, forKey: .supportURI)
        let statements = branding.statements.map { language, statement in
            (language.rawValue, Statement(text: statement.text, privacyURI: statement.privacyURI?.rawValue))
        }
        try values.encode(Dictionary(statements, uniquingKeysWith: { first, _ in first }), forKey: .statements)
    }

    /// The branding as text.
    ///
    /// Values that are not set are omitted.
    var words: String {
        var lines: [String] = []
        func add(_ name: String, _ value: String?) {
            if let value { lines.append("\(name): \(value)") }
        }
        add("name", branding.siteName.map { "\(DisplayName($0))" })
        add("colour", branding.accent?.rawValue)
        add("support URI", branding.supportURI?.rawValue)
        for language in Language.allCases {
            guard let statement = branding.statements[language] else { continue }
            add("privacy policy (\(language.rawValue))", statement.privacyURI?.rawValue)
            guard let text = statement.text else { continue }
            lines.append("text (\(language.rawValue)):")
            // The text can be printed unchanged: `ConsentText` allows no control characters except tabs.
            lines += text.split(separator: "\n", omittingEmptySubsequences: false).map { $0.isEmpty ? "" : "  \($0)" }
        }
        return lines.isEmpty
            ? "No branding is set. The pages have their default look." : lines.joined(separator: "\n")
    }
}
