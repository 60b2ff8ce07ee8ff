import CounterfoilServer

/// The branding in the output of commands.
struct BrandingOutput {
    private let branding: AdministrationRecord

    init(_ branding: AdministrationRecord) { self.branding = branding }

    /// The branding as text; values that are not set are omitted.
    private var words: String {
        var lines: [String] = []
        func add(_ name: String, _ value: String?) {
            if let value { lines.append("\(name): \(value.visible)") }
        }
        add("name", branding.text("site_name"))
        add("colour", branding.text("accent"))
        add("support URI", branding.text("support_uri"))
        let statements = branding.record("statements")
        for language in statements?.members.keys.sorted() ?? [] {
            let statement = statements?.record(language)
            add("privacy policy (\(language.visible))", statement?.text("privacy_uri"))
            guard let text = statement?.text("text") else { continue }
            lines.append("text (\(language.visible)):")
            let shown = String(VisibleText(of: text.unicodeScalars, keepsLines: true).scalars)
            lines += shown.split(separator: "\n", omittingEmptySubsequences: false).map { $0.isEmpty ? "" : "  \($0)" }
        }
        return lines.isEmpty
            ? "No branding is set. The pages have their default look." : lines.joined(separator: "\n")
    }

    func print(json: Bool) throws {
        if json { return try Output.json(branding) }
        Output.line(words)
    }
}
