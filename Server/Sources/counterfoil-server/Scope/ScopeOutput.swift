import CounterfoilServer

/// A scope in the output of commands.
struct ScopeOutput {
    private let scope: AdministrationRecord

    init(_ scope: AdministrationRecord) { self.scope = scope }

    /// The scope as one line of text.
    var line: String {
        var parts = [
            scope.shown("scope"), scope.flag("listed") ? "listed" : "unlisted",
            scope.flag("starts_ticked") ? "ticked" : "unticked",
        ]
        if scope.flag("reserved") { parts.append("reserved") }
        let claims = scope.texts("claims")
        if !claims.isEmpty {
            let places = scope.texts("claims_in").joined(separator: ",")
            parts.append("claims \(claims.joined(separator: ",")) in \(places)".visible)
        }
        return (parts + ["\(DisplayName(scope.text("description") ?? ""))"]).joined(separator: "  ")
    }

    func print(json: Bool) throws {
        if json { return try Output.json(scope) }
        Output.line(line)
    }
}
