import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import CounterfoilTokens
import Foundation

/// An API in the output of commands.
struct ResourceDocument: Encodable {
    private let resource: RegisteredResource
    private let newSecret: ClientSecret?

    init(_ resource: RegisteredResource, newSecret: ClientSecret? = nil) {
        self.resource = resource
        self.newSecret = newSecret
    }

    private enum CodingKeys: String, CodingKey {
        case resource, name, scope
        case clientID = "client_id"
        case clientSecret = "client_secret"
        case tokenType = "jwt_type"
        case requiresBoundTokens = "dpop_bound_access_tokens_required"
        case createdAt = "created_at"
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(resource.resource.rawValue, forKey: .resource)
        try values.encode(resource.clientID, forKey: .clientID)
        try values.encodeIfPresent(newSecret?.exposed, forKey: .clientSecret)
        try values.encode(resource.name, forKey: .name)
        try values.encode(resource.scope, forKey: .scope)
        try values.encode(resource.tokenType.rawValue, forKey: .tokenType)
        try values.encode(resource.requiresBoundTokens, forKey: .requiresBoundTokens)
        try values.encode(Int(resource.createdAt.timeIntervalSince1970), forKey: .createdAt)
    }

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
