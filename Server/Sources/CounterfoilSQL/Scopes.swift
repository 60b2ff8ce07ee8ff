import CounterfoilProtocol
public import CounterfoilStore
import Foundation

extension SQLStore {
    /// Reads every scope, in the order of names.
    public func scopes() async throws(StoreFault) -> [ScopeDefinition] {
        try await read { database in
            try database.list(
                "SELECT \(ScopeDefinition.columns) FROM scopes ORDER BY name", noting: unsupported,
                read: ScopeDefinition.init(_:))
        }
    }

    /// Adds a scope, unless its name is taken.
    public func addScope(
        _ scope: ScopeDefinition, recording events: [AuditEvent]
    ) async throws(StoreFault) -> AddScopeOutcome {
        try await commit(recording: events) { database in
            let added = try database.run(
                """
                INSERT INTO scopes (\(ScopeDefinition.columns)) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (name) DO NOTHING
                """,
                scope.token.rawValue,
                scope.description,
                scope.isListed,
                scope.startsTicked,
                scope.isReserved
            )
            return added == 1 ? .added : .exists
        }
    }

    /// Changes a scope if its stored definition still equals `former`.
    public func updateScope(
        _ scope: ScopeDefinition, from former: ScopeDefinition, recording events: [AuditEvent]
    ) async throws(StoreFault) -> UpdateScopeOutcome {
        try await commit(ending: .sometimes(.scopeReserved), recording: events) { database in
            guard let stored = try database.scope(scope.token) else { return .notFound }
            guard stored == former else { return .changedMeanwhile }
            try database.send(
                """
                UPDATE scopes SET description = ?2, is_listed = ?3, starts_ticked = ?4, is_reserved = ?5
                WHERE name = ?1
                """,
                scope.token.rawValue,
                scope.description,
                scope.isListed,
                scope.startsTicked,
                scope.isReserved
            )
            return .updated
        }
    }
}

extension SQLConnection {
    func scope(_ token: Scope.Token) throws -> ScopeDefinition? {
        try first(
            "SELECT \(ScopeDefinition.columns) FROM scopes WHERE name = ?", token.rawValue,
            read: ScopeDefinition.init(_:))
    }
}

extension ScopeDefinition {
    fileprivate static let columns = "name, description, is_listed, starts_ticked, is_reserved"

    fileprivate init(_ columns: inout Columns) throws {
        columns.record = "scope"
        self.init(
            token: try columns.word(Scope.Token.init(_:)), description: try columns.text(),
            isListed: try columns.flag(), startsTicked: try columns.flag(), isReserved: try columns.flag())
    }
}
