import CounterfoilServer

/// An API in the output of commands.
struct ResourceOutput {
    private let api: AdministrationRecord

    init(_ api: AdministrationRecord) { self.api = api }

    private var name: DisplayName { DisplayName(api.text("name") ?? "") }

    /// The API as one line of text.
    var line: String {
        let boundOnly = api.flag("dpop_bound_access_tokens_required") ? ["bound-tokens-only"] : []
        return
            ([api.shown("resource"), api.shown("client_id"), api.shown("jwt_type")] + boundOnly + ["\(name)"])
            .joined(separator: "  ")
    }

    /// The API as text, one line for each value; an empty scope is omitted.
    private var words: String {
        let members = ["resource", "client_id", "client_secret", "scope", "jwt_type"].filter { !api.shown($0).isEmpty }
        var lines = ["\(name)"] + members.map { "  \($0): \(api.shown($0))" }
        if api.flag("dpop_bound_access_tokens_required") { lines.append("  bound tokens only (DPoP)") }
        return lines.joined(separator: "\n")
    }

    /// Prints the API, and a note about its new secret if it has one.
    func print(json: Bool) throws {
        if json { return try Output.json(api) }
        Output.line(words)
        if api.text("client_secret") != nil {
            Output.note("The client secret is shown only once. Store it where only the API can read it.")
        }
    }
}
