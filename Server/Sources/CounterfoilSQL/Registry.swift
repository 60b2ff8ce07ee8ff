import CounterfoilProtocol
public import CounterfoilStore

extension SQLStore {
    /// Reads the revision of the registry, a random number that triggers renew after each change by any process.
    public func registryRevision() async throws(StoreFault) -> RegistryRevision {
        try await read { database in
            let revision = try database.first(StoreQuery.revision) { columns in RegistryRevision(try columns.integer())
            }
            guard let revision else { throw StoreFault.damaged("the table registry has no row") }
            return revision
        }
    }

    /// Reads the clients whose apps the association files list, oldest first.
    public func associatedClients() async throws(StoreFault) -> [RegisteredClient] {
        try await read { database in
            try database.list(StoreQuery.associatedClientsQuery, noting: unsupported, read: RegisteredClient.init(_:))
        }
    }

    /// Reads the longest idle lifetime of refresh tokens in the policies of registered clients, in seconds; nil for
    /// none.
    public func longestRefreshIdleLifetime() async throws(StoreFault) -> Int? {
        try await read { database in
            try database.first(StoreQuery.longestIdleLifetime) { columns in try columns.optionalInteger().map(Int.init)
            }
                ?? nil
        }
    }
}

extension StoreQuery {
    package static let revision = "SELECT revision FROM registry"

    /// The query for the clients in the association files; it reads only the partial index `clients_associated`.
    package static let associatedClientsQuery = """
        SELECT \(RegisteredClient.columns) FROM clients WHERE \(isAssociated) ORDER BY created_at, clients.rowid
        """

    /// The query for the longest idle lifetime; it reads one entry of the partial index `clients_idle_lifetime`.
    package static let longestIdleLifetime = "SELECT max(refresh_idle_lifetime) FROM clients WHERE \(setsIdleLifetime)"

    /// The condition of the index `clients_associated`.
    package static let isAssociated = """
        source = 'console' AND type = 'native' AND is_claimed_https_verified = 1
            AND (apple_apps <> '' OR android_apps <> '')
        """

    /// The condition of the index `clients_idle_lifetime`.
    package static let setsIdleLifetime = "source = 'console' AND refresh_idle_lifetime IS NOT NULL"
}
