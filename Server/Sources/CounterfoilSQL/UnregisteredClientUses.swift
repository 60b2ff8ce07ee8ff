public import CounterfoilProtocol
public import CounterfoilStore
import Foundation

extension SQLStore {
    /// Reads hosts that have stored client documents, by name.
    public func unregisteredClientHosts(
        startingWith prefix: String, after name: String?, limit: Int
    ) async throws(StoreFault) -> [UnregisteredClientHost] {
        try await read { database in
            // A space comes before every character of a host, so no name is between a name and the same with a space.
            func successor(of name: String) -> String { name + " " }
            var hosts: [UnregisteredClientHost] = []
            var start = max(prefix, name.map(successor) ?? "")
            // Each step finds the next name in the index, so clients of the same host are not read one by one.
            while hosts.count < limit,
                let next = try database.first(
                    StoreQuery.nextHost, start, read: { columns in try columns.optionalText() }),
                let next, next.hasPrefix(prefix)
            {
                hosts.append(UnregisteredClientHost(name: next, count: try database.count(of: .host(next))))
                start = successor(of: next)
            }
            return hosts
        }
    }

    /// Counts the clients of a family.
    public func unregisteredClientCount(
        of family: UnregisteredClientFamily
    ) async throws(StoreFault) -> UnregisteredClientCount {
        try await read { database in try database.count(of: family) }
    }

    /// Reads clients of a family, newest first.
    public func unregisteredClients(
        of family: UnregisteredClientFamily, after last: UnregisteredClientCursor?, limit: Int
    ) async throws(StoreFault) -> [UnregisteredClientUse] {
        try await read { database in
            let clients = try database.list(
                StoreQuery.page(of: family), family.host, last?.createdAt.microseconds ?? .max, last?.id.rawValue ?? "",
                atMost: limit,
                noting: unsupported,
                read: RegisteredClient.init(_:))
            return try clients.map { try database.use(of: $0) }
        }
    }

    /// Reads one client; nil if there is none, or if a person registered it.
    public func unregisteredClient(_ id: ClientIdentifier) async throws(StoreFault) -> UnregisteredClientUse? {
        try await read { database in
            guard let client = try database.client(id), client.isUnregistered else { return nil }
            return try database.use(of: client)
        }
    }

    /// Deletes a client that no person registered, as `removeClient` does.
    @discardableResult
    public func removeUnregisteredClient(
        _ id: ClientIdentifier, recording events: [AuditEvent]
    ) async throws(StoreFault) -> Bool {
        try await commit(ending: .usually(.client, .clientSecret, .consent), recording: events) { database in
            // No other column is read, so that a client with a value that this version does not know can be deleted.
            let isDeletable = try database.answers(
                "SELECT \(StoreQuery.isDeletable) FROM clients WHERE id = ?", id.rawValue)
            guard isDeletable == [true] else { return false }
            var rows = ClientRemoval.rowsAtOnce
            return try database.removeClient(id.rawValue, atMost: &rows)
        }
    }

    /// Deletes clients of a family in one transaction, and returns their number.
    public func removeUnregisteredClients(
        of family: UnregisteredClientFamily, atMost limit: Int,
        recording events: @escaping @Sendable (Int) -> [AuditEvent]
    ) async throws(StoreFault) -> Int {
        try await commit(ending: .usually(.client, .clientSecret, .consent)) { database in
            let clients = try database.all(StoreQuery.members(of: family), family.host, limit) { columns in
                try columns.text()
            }
            try database.removeClients(clients)
            if !clients.isEmpty { try database.append(events(clients.count)) }
            return clients.count
        }
    }
}

extension StoreQuery {
    /// The query for the first host that is ?1 or comes after it.
    ///
    /// The condition `source <> 'console'` here and below lets SQLite use the partial index.
    package static let nextHost = """
        SELECT min(host) FROM clients WHERE source <> 'console' AND source = 'documents' AND host >= ?1
        """

    /// The query for the clients of a family, older than the client with the time ?2 and the identifier ?3.
    package static func page(of family: UnregisteredClientFamily) -> String {
        """
        SELECT \(RegisteredClient.columns) FROM clients
        WHERE \(family.condition) AND (clients.created_at, clients.id) < (?2, ?3)
        ORDER BY clients.created_at DESC, clients.id DESC
        """
    }

    /// The query for the identifiers of ?2 clients of a family.
    package static func members(of family: UnregisteredClientFamily) -> String {
        "SELECT id FROM clients WHERE \(family.condition) AND \(isDeletable) LIMIT ?2"
    }

    /// The condition that no person registered the client, and that its deletion ends no suspension.
    ///
    /// A client with a document is stored again at the next request, and would not be suspended then.
    fileprivate static let isDeletable =
        "(clients.source = 'registration' OR clients.source = 'documents' AND clients.suspended_at IS NULL)"

    /// The query for the number of clients of a family and of those without a user, both of the first ?2 clients.
    package static func count(of family: UnregisteredClientFamily) -> String {
        """
        SELECT count(*), coalesce(sum(unused), 0) FROM (
            SELECT CASE WHEN EXISTS (SELECT 1 FROM consents WHERE consents.client_id = clients.id)
                THEN 0 ELSE 1 END AS unused
            FROM clients WHERE \(family.condition) LIMIT ?2
        ) AS found
        """
    }

    /// The query for the consents of at most ?2 users to a client.
    package static let consentsToClient = "SELECT scope, last_used_at FROM consents WHERE client_id = ?1 LIMIT ?2"
}

extension UnregisteredClientFamily {
    /// The condition for the rows of the family; ?1 is ``host``.
    fileprivate var condition: String {
        switch self {
        case .host: "clients.source <> 'console' AND clients.source = 'documents' AND clients.host = ?1"
        case .registrations:
            """
            clients.source <> 'console' AND clients.source = 'registration' AND clients.host IS NULL
                AND CAST(?1 AS text) IS NULL
            """
        }
    }

    fileprivate var host: String? {
        switch self {
        case .host(let name): name
        case .registrations: nil
        }
    }
}

extension SQLConnection {
    fileprivate func count(of family: UnregisteredClientFamily) throws -> UnregisteredClientCount {
        let counted = try first(StoreQuery.count(of: family), family.host, UnregisteredClientCount.limit) { columns in
            UnregisteredClientCount(clients: Int(try columns.integer()), unused: Int(try columns.integer()))
        }
        return counted ?? UnregisteredClientCount(clients: 0, unused: 0)
    }

    fileprivate func use(of client: RegisteredClient) throws -> UnregisteredClientUse {
        let consents = try all(
            StoreQuery.consentsToClient, client.id.rawValue, UnregisteredClientUse.consentLimit
        ) { columns in (scope: try columns.text(), lastUsedAt: try columns.optionalDate()) }
        // Most users allow the same scopes, so equal texts are parsed once.
        let tokens = Set(consents.map(\.scope)).flatMap { $0.split(separator: " ") }
        return UnregisteredClientUse(
            client: client, users: consents.count, lastUsedAt: consents.compactMap(\.lastUsedAt).max(),
            scope: Scope(Set(tokens).sorted().compactMap { Scope.Token(String($0)) }))
    }
}
