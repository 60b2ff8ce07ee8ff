public import CounterfoilProtocol
public import CounterfoilServer
import Foundation
import GRDB

extension SQLiteStore: ResourceStore {
    /// Reads every API, in the order of resource indicators.
    public func resources() async throws(StoreFault) -> [RegisteredResource] {
        try read { database in
            try database.all(
                "SELECT \(RegisteredResource.columns) FROM resources ORDER BY resource",
                read: RegisteredResource.init(_:))
        }
    }

    /// Reads an API by its resource indicator.
    ///
    /// The API comes from a cache as long as no process has changed a client, a client secret or an API.
    public func resource(_ resource: Resource) async throws(StoreFault) -> RegisteredResource? {
        try read(resource, in: cachedResources) { database in try database.resource(resource) }
    }

    /// Reads the API that has this `client_id` for its requests to the introspection endpoint.
    public func resource(authenticatingAs id: ClientIdentifier) async throws(StoreFault) -> RegisteredResource? {
        try read(id, in: cachedCallers) { database in
            try database.first(
                "SELECT \(RegisteredResource.columns) FROM resources WHERE client_id = ?", id.rawValue,
                read: RegisteredResource.init(_:))
        }
    }

    /// Registers an API, unless another API has its resource indicator or `client_id`, or one of its scopes does not
    /// exist.
    public func addResource(_ resource: RegisteredResource) async throws(StoreFault) -> AddResourceOutcome {
        try await commits.commit { database in
            let unknown = try database.unknownScopes(in: resource.scope)
            guard unknown.isEmpty else { return .unknownScopes(unknown) }
            let added = try database.run(
                """
                INSERT INTO resources (\(RegisteredResource.columns)) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
                """,
                resource.resource.rawValue,
                resource.clientID.rawValue,
                resource.name,
                resource.scope.description,
                Data(resource.secret.bytes),
                resource.createdAt.microseconds
            )
            return added == 1 ? .added : .exists
        }
    }

    /// Replaces the secret of an API, which invalidates the former secret at once; returns false if the API does not
    /// exist.
    @discardableResult
    public func replaceSecret(of resource: Resource, with secret: ArtefactDigest) async throws(StoreFault) -> Bool {
        try await commits.commit { database in
            try database.run(
                "UPDATE resources SET secret = ?2 WHERE resource = ?1", resource.rawValue, Data(secret.bytes)) == 1
        }
    }

    /// Deletes an API; returns false if it does not exist.
    @discardableResult
    public func removeResource(_ resource: Resource) async throws(StoreFault) -> Bool {
        try await commits.commit { database in
            try database.run("DELETE FROM resources WHERE resource = ?", resource.rawValue) == 1
        }
    }
}

extension Database {
    func resource(_ resource: Resource) throws -> RegisteredResource? {
        try first(
            "SELECT \(RegisteredResource.columns) FROM resources WHERE resource = ?", resource.rawValue,
            read: RegisteredResource.init(_:))
    }
}

extension RegisteredResource {
    fileprivate static let columns = "resource, client_id, name, scope, secret, created_at"

    fileprivate init(_ columns: inout Columns) throws {
        self.init(
            resource: try columns.value { try Resource($0) },
            clientID: try columns.value(ClientIdentifier.init(_:)),
            name: try columns.text(),
            scope: try columns.scope(),
            secret: try columns.digest(),
            createdAt: try columns.date()
        )
    }
}
