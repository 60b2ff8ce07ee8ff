import ArgumentParser
import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer
import Foundation

/// `resource`: the APIs that accept tokens.
struct ResourceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resource",
        abstract: "The APIs that accept the tokens of this server.",
        subcommands: [ResourceCreate.self, ResourceList.self, ResourceSecret.self, ResourceDelete.self]
    )
}

/// An API as the command line prints it.
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
        case createdAt = "created_at"
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(resource.resource.rawValue, forKey: .resource)
        try values.encode(resource.clientID, forKey: .clientID)
        try values.encodeIfPresent(newSecret?.exposed, forKey: .clientSecret)
        try values.encode(resource.name, forKey: .name)
        try values.encode(resource.scope, forKey: .scope)
        try values.encode(Int(resource.createdAt.timeIntervalSince1970), forKey: .createdAt)
    }

    /// The same for people.
    var words: String {
        var lines = [
            "\(DisplayName(resource.name))", "  resource: \(resource.resource)", "  client_id: \(resource.clientID)",
        ]
        if let newSecret { lines.append("  client_secret: \(newSecret.exposed)") }
        if !resource.scope.isEmpty { lines.append("  scope: \(resource.scope)") }
        return lines.joined(separator: "\n")
    }

    /// Prints the API and, where it has a new secret, what to do with it.
    func print(json: Bool) throws {
        if json { return try Output.json(self) }
        Output.line(words)
        if newSecret != nil { Output.note("The secret is shown this once. Keep it where only the API can read it.") }
    }
}

extension DataDirectory {
    /// The API of an indicator as it was written.
    func resource(_ text: String) async throws -> RegisteredResource {
        guard let indicator = try? Resource(text), let resource = try await store.resource(indicator) else {
            throw CommandFailure.refused("there is no API with the indicator \(text)")
        }
        return resource
    }

    /// Notes a change of an API in the audit log.
    func noteResource(_ detail: String) async throws {
        try await store.appendAudit(AuditEvent(at: Date(), .setting, detail: detail))
    }
}
