import ArgumentParser
import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer
import Foundation

/// `resource`: the APIs that accept tokens.
struct ResourceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resource",
        abstract: "Manage the APIs that accept tokens of this server.",
        subcommands: [ResourceCreate.self, ResourceList.self, ResourceSecret.self, ResourceDelete.self]
    )
}

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

    /// The API as text.
    var words: String {
        var lines = [
            "\(DisplayName(resource.name))", "  resource: \(resource.resource)", "  client_id: \(resource.clientID)",
        ]
        if let newSecret { lines.append("  client_secret: \(newSecret.exposed)") }
        if !resource.scope.isEmpty { lines.append("  scope: \(resource.scope)") }
        return lines.joined(separator: "\n")
    }

    /// Prints the API, and advice about its new secret if it has one.
    func print(json: Bool) throws {
        if json { return try Output.json(self) }
        Output.line(words)
        if newSecret != nil {
            Output.note("The client secret is shown only once. Store it where only the API can read it.")
        }
    }
}

extension DataDirectory {
    /// Finds the API with the given resource indicator.
    func resource(_ text: String) async throws -> RegisteredResource {
        guard let indicator = try? Resource(text), let resource = try await store.resource(indicator) else {
            throw CommandFailure.refused("there is no API with the URI \(text); see: counterfoil-server resource list")
        }
        return resource
    }

    /// Records a change of an API in the audit log.
    func noteResource(_ detail: String) async throws {
        try await store.appendAudit(AuditEvent(at: Date(), .setting, detail: detail))
    }
}
