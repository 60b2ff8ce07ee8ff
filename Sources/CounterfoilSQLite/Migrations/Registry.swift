import CounterfoilProtocol
import CounterfoilSQL
import CounterfoilServer
import GRDB

extension Migration {
    /// Renews the registry revision after changes of the signing keys and the branding, too, and adds indexes for the
    /// queries of `SQLStore.associatedClients` and `longestRefreshIdleLifetime`.
    static let registryOfKeysAndBranding = Migration { database in
        for table in ["signing_keys", "branding", "site_statements"] {
            for change in ["INSERT", "UPDATE", "DELETE"] {
                try database.execute(sql: renewal(of: table, after: change))
            }
        }
        try database.execute(
            sql: """
                CREATE INDEX clients_associated ON clients (created_at) WHERE \(StoreQuery.isAssociated);
                CREATE INDEX clients_idle_lifetime ON clients (refresh_idle_lifetime)
                    WHERE \(StoreQuery.setsIdleLifetime);
                """)
    }
}
