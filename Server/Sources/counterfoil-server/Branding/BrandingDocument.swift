import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore

extension BrandingDocument {
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
