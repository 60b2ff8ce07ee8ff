import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import CounterfoilTokens

extension ResourceDocument {
    /// The API as text, one line for each value; an empty scope is omitted.
    var words: String {
        var lines = [
            "\(DisplayName(resource.name))", "  resource: \(resource.resource)", "  client_id: \(resource.clientID)",
        ]
        if let newSecret { lines.append("  client_secret: \(newSecret.exposed)") }
        if !resource.scope.isEmpty { lines.append("  scope: \(resource.scope)") }
        lines.append("  jwt_type: \(resource.tokenType.rawValue)")
        if resource.requiresBoundTokens { lines.append("  bound tokens only (DPoP)") }
        return lines.joined(separator: "\n")
    }

    /// Prints the API, and a note about its new secret if it has one.
    func print(json: Bool) throws {
        if json { return try Output.json(self) }
        Output.line(words)
        if newSecret != nil {
            Output.note("The client secret is shown only once. Store it where only the API can read it.")
        }
    }
}
