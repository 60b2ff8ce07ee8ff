import CounterfoilProtocol
import CounterfoilServer
import GRDB

extension Migration {
    /// The scopes that the metadata lists, and the initial state of their checkboxes on the consent page.
    static let listedScopes = Migration { database in
        try database.execute(
            sql: """
                ALTER TABLE scopes ADD COLUMN is_listed INTEGER NOT NULL DEFAULT 0 CHECK (is_listed IN (0, 1));
                ALTER TABLE scopes ADD COLUMN starts_ticked INTEGER NOT NULL DEFAULT 0 CHECK (starts_ticked IN (0, 1));
                """
        )
        for scope in ScopeDefinition.standard {
            try database.run("UPDATE scopes SET is_listed = 1 WHERE name = ?", scope.token.rawValue)
        }
    }
}
