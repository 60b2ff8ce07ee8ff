import CounterfoilProtocol
public import CounterfoilServer
import GRDB

extension SQLiteStore: ScopeStore {
    /// Every scope by name.
    public func scopes() async throws(StoreFault) -> [ScopeDefinition] {
        try read { database in
            try database.all("SELECT name, description FROM scopes ORDER BY name") { columns in
                ScopeDefinition(token: try columns.value(Scope.Token.init(_:)), description: try columns.text())
            }
        }
    }

    /// Adds a scope, unless its name is taken.
    public func addScope(_ scope: ScopeDefinition) async throws(StoreFault) -> AddScopeOutcome {
        try await commits.commit { database in
            let added = try database.run(
                "INSERT INTO scopes (name, description) VALUES (?, ?) ON CONFLICT (name) DO NOTHING",
                scope.token.rawValue,
                scope.description
            )
            return added == 1 ? .added : .exists
        }
    }
}
