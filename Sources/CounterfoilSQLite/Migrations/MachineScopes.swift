import CounterfoilProtocol
import CounterfoilServer
import GRDB

extension Migration {
    /// The scopes that a service can request without a user.
    ///
    /// A service that an administrator registered or vouched for keeps what it could request. Any other
    /// service needs an approval.
    static let machineScopes = Migration { database in
        try database.execute(
            sql: """
                ALTER TABLE clients ADD COLUMN machine_scope TEXT NOT NULL DEFAULT '';
                -- Scopes of the standards need a user; the spaces delimit the names.
                UPDATE clients SET machine_scope = ' ' || scope || ' '
                    WHERE type = 'service' AND (owner_id IS NULL OR is_vouched_for = 1);
                """
        )
        for scope in ScopeDefinition.standard {
            try database.execute(
                sql: "UPDATE clients SET machine_scope = replace(machine_scope, ?, ' ') WHERE machine_scope <> ''",
                arguments: [" \(scope.token.rawValue) "])
        }
        try database.execute(sql: "UPDATE clients SET machine_scope = trim(machine_scope) WHERE machine_scope <> ''")
    }
}
