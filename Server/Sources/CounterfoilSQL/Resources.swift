@_spi(Counterfoil) public import CounterfoilProtocol
public import CounterfoilStore
import CounterfoilTokens
import Foundation

extension SQLStore {
    /// Reads every API, in the order of resource indicators.
    public func resources() async throws(StoreFault) -> [RegisteredResource] {
        try await read { database in
            try database.list(
                "SELECT \(RegisteredResource.columns) FROM resources ORDER BY resource", noting: unsupported,
                read: RegisteredResource.init(_:))
        }
    }

    /// Reads an API by its resource indicator, in any equal spelling.
    public func resource(_ resource: Resource) async throws(StoreFault) -> RegisteredResource? {
        try await read { database in try database.resource(resource) }
    }

    /// Reads the API that has this `client_id` for its requests to the introspection endpoint.
    public func resource(authenticatingAs id: ClientIdentifier) async throws(StoreFault) -> RegisteredResource? {
        try await read { database in
            try database.first(
                "SELECT \(RegisteredResource.columns) FROM resources WHERE client_id = ?", id.rawValue,
                read: RegisteredResource.init(_:))
        }
    }

    /// Registers an API, unless another API has its resource indicator or `client_id`, or one of its scopes does not
    /// exist.
    public func addResource(
        _ resource: RegisteredResource, recording events: [AuditEvent]
    ) async throws(StoreFault) -> AddResourceOutcome {
        try await commit(recording: events) { database in
            let unknown = try database.unknownScopes(in: resource.scope)
            guard unknown.isEmpty else { return .unknownScopes(unknown) }
            let added = try database.run(
                """
                INSERT INTO resources (\(RegisteredResource.columns), normalized) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT DO NOTHING
                """,
                resource.resource.rawValue,
                resource.clientID.rawValue,
                resource.name,
                resource.scope.description,
                resource.tokenType.rawValue,
                resource.requiresBoundTokens,
                Data(resource.secret.bytes),
                resource.createdAt.microseconds,
                resource.resource.normalized
            )
            return added == 1 ? .added : .exists
        }
    }

    /// Changes the name, scopes, token type and requirement of an API, if the stored record still equals `former`.
    public func updateResource(
        _ resource: RegisteredResource, from former: RegisteredResource, recording events: [AuditEvent]
    ) async throws(StoreFault) -> UpdateResourceOutcome {
        try await commit(ending: .sometimes(.apiChanged), recording: events) { database in
            guard let stored = try database.resource(former.resource) else { return .notFound }
            guard stored == former else { return .changedMeanwhile }
            let unknown = try database.unknownScopes(in: resource.scope)
            guard unknown.isEmpty else { return .unknownScopes(unknown) }
            try database.send(
                """
                UPDATE resources SET name = ?2, scope = ?3, token_type = ?4, requires_bound_tokens = ?5
                WHERE resource = ?1
                """,
                former.resource.rawValue,
                resource.name,
                resource.scope.description,
                resource.tokenType.rawValue,
                resource.requiresBoundTokens
            )
            return .updated
        }
    }

    /// Replaces the secret of an API, which invalidates the former secret at once; returns false if the API does not
    /// exist.
    @discardableResult
    public func replaceSecret(
        of resource: Resource, with secret: ArtefactDigest, recording events: [AuditEvent]
    ) async throws(StoreFault) -> Bool {
        try await commit(ending: .usually(.apiSecret), recording: events) { database in
            try database.run(
                "UPDATE resources SET secret = ?2 WHERE normalized = ?1", resource.normalized, Data(secret.bytes)) == 1
        }
    }

    /// Deletes an API; returns false if it does not exist.
    @discardableResult
    public func removeResource(_ resource: Resource, recording events: [AuditEvent]) async throws(StoreFault) -> Bool {
        try await commit(ending: .usually(.api), recording: events) { database in
            try database.run("DELETE FROM resources WHERE normalized = ?", resource.normalized) == 1
        }
    }
}

extension SQLConnection {
    /// Reads an API by its resource indicator in any equal spelling.
    func resource(_ resource: Resource) throws -> RegisteredResource? {
        try first(RegisteredResource.lookup, resource.normalized, read: RegisteredResource.init(_:))
    }
}

extension RegisteredResource {
    fileprivate static let columns =
        "resource, client_id, name, scope, token_type, requires_bound_tokens, secret, created_at"

    /// The query that reads an API by its normalized resource indicator.
    static let lookup = "SELECT \(columns) FROM resources WHERE normalized = ?"

    fileprivate init(_ columns: inout Columns) throws {
        columns.record = "API"
        self.init(
            resource: try columns.word { try Resource($0) },
            clientID: try columns.value(ClientIdentifier.init(_:)),
            name: try columns.text(),
            scope: try columns.scope(),
            tokenType: try columns.word(AccessTokenType.init(rawValue:)),
            requiresBoundTokens: try columns.flag(),
            secret: try columns.digest(),
            createdAt: try columns.date()
        )
    }
}
