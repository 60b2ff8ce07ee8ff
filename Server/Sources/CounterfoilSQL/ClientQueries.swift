public import CounterfoilProtocol
public import CounterfoilStore
import Foundation

extension SQLStore {
    /// Finds clients that a person registered.
    public func clients(matching query: ClientQuery) async throws(StoreFault) -> ClientListing {
        try await read { database in
            let page = query.page
            let found = try database.list(
                page.sql, values: page.values, atMost: query.limit + 1, noting: unsupported,
                read: RegisteredClient.init(_:))
            let shown = found.prefix(query.limit)
            let owners = try database.owners(of: shown, noting: unsupported)
            let uses = try database.uses(of: shown.map(\.id))
            return ClientListing(
                clients: shown.map { client in
                    ListedClient(
                        client: client, owner: client.owner.flatMap { owners[$0] },
                        use: uses[client.id] ?? ClientUse(users: UserCount(0), lastUsedAt: nil))
                },
                next: found.count > query.limit ? shown.last.map { ClientCursor(of: $0, in: query.order) } : nil)
        }
    }

    /// Counts the clients that a query finds.
    public func clientCount(matching query: ClientQuery) async throws(StoreFault) -> UserCount {
        try await read { database in
            let count = query.count
            let number = try database.first(count.sql, values: count.values) { columns in Int(try columns.integer()) }
            return UserCount(number ?? 0)
        }
    }

    /// Reads the use of a client.
    public func use(of client: ClientIdentifier) async throws(StoreFault) -> ClientUse {
        try await read { database in
            try database.uses(of: [client])[client] ?? ClientUse(users: UserCount(0), lastUsedAt: nil)
        }
    }
}

extension SQLConnection {
    /// Reads the user who owns a client.
    func owner(_ id: UserIdentifier) throws -> User? {
        try first("SELECT \(User.columns) FROM people WHERE people.id = ?", id.rawValue, read: User.init(_:))
    }

    /// Reads the users who own clients.
    fileprivate func owners(
        of clients: ArraySlice<RegisteredClient>, noting unsupported: UnsupportedValues
    ) throws -> [UserIdentifier: User] {
        var owners: [UserIdentifier: User] = [:]
        for values in Self.batches(Set(clients.compactMap(\.owner)).map(\.rawValue)) {
            let users = try list(
                "SELECT \(User.columns) FROM people WHERE people.id IN (\(Self.marks))", values: values,
                noting: unsupported, read: User.init(_:))
            for user in users { owners[user.id] = user }
        }
        return owners
    }

    fileprivate func uses(of clients: [ClientIdentifier]) throws -> [ClientIdentifier: ClientUse] {
        var uses: [ClientIdentifier: ClientUse] = [:]
        for values in Self.batches(clients.map(\.rawValue)) {
            let found = try all(ClientUse.ofClients(Self.marks), values: values) { columns in
                let id = try columns.value(ClientIdentifier.init(_:))
                let (users, examined) = (Int(try columns.integer()), Int(try columns.integer()))
                let use = ClientUse(
                    users: UserCount(users, isExact: examined < ClientUse.examined),
                    lastUsedAt: try columns.optionalDate())
                return (id: id, use: use)
            }
            for (id, use) in found { uses[id] = use }
        }
        return uses
    }

    private static let batch = 50
    private static let marks = repeatElement("?", count: batch).joined(separator: ", ")

    /// Returns the parameters of statements that are for ``batch`` identifiers each.
    ///
    /// The text of the statement is always the same, so that it is prepared once.
    private static func batches(_ ids: [String]) -> [[(any SQLValue)?]] {
        stride(from: 0, to: ids.count, by: batch).map { start in
            var values: [(any SQLValue)?] = ids[start...].prefix(batch).map { $0 }
            values += Array(repeating: ids[start], count: batch - values.count)
            return values
        }
    }
}

extension ClientUse {
    /// The number of grants that are examined to count the users of a client that asks for no consent.
    fileprivate static let examined = 2 * UserCount.limit

    /// Returns the query for the users of clients, the number of grants that were examined, and the time of the last
    /// use.
    static func ofClients(_ identifiers: String) -> String {
        """
        SELECT clients.id,
            CASE WHEN clients.is_first_party = 1 THEN (
                SELECT count(DISTINCT person_number) FROM (
                    SELECT person_number FROM grants WHERE client_id = clients.id LIMIT \(examined)
                ) AS found
            ) ELSE (
                SELECT count(*) FROM (
                    SELECT 1 AS one FROM consents WHERE client_id = clients.id LIMIT \(UserCount.limit + 1)
                ) AS found
            ) END,
            CASE WHEN clients.is_first_party = 1 THEN (
                SELECT count(*) FROM (
                    SELECT 1 AS one FROM grants WHERE client_id = clients.id LIMIT \(examined)
                ) AS found
            ) ELSE 0 END,
            (SELECT last_used_at FROM client_uses WHERE client_id = clients.id)
        FROM clients WHERE clients.id IN (\(identifiers))
        """
    }

    /// Returns the statement that records a use of a client, unless one is recorded within ``resolution``.
    ///
    /// The condition is in the query, so that other commits do not lock the row of a client that many users have.
    ///
    /// - Parameters:
    ///   - client: The expression for the identifier of the client.
    ///   - time: The parameter with the time.
    ///   - condition: Another condition.
    static func record(of client: String, at time: String, if condition: String = "1 = 1") -> String {
        """
        INSERT INTO client_uses (client_id, last_used_at)
        SELECT clients.id, \(time) FROM clients
        WHERE clients.id = \(client) AND \(condition) AND NOT EXISTS (
            SELECT 1 FROM client_uses AS uses
            WHERE uses.client_id = clients.id AND uses.last_used_at > \(time) - \(Int64(resolution) * 1_000_000)
        )
        ON CONFLICT (client_id) DO UPDATE SET last_used_at = excluded.last_used_at
        """
    }
}

extension ClientQuery {
    /// The number of records that a part of a search finds beyond the limit, for those that this version cannot read.
    private static let margin = 20

    /// The query for the clients, without a limit.
    var page: SQLQuery {
        var builder = Builder()
        guard search != nil || developer != nil else {
            let conditions = [Self.registered, stateCondition, place(&builder)].compactMap(\.self)
            return builder.query(
                "SELECT \(RegisteredClient.columns) FROM clients WHERE \(conditions.joined(separator: " AND ")) \(sorting)"
            )
        }
        let limit = limit + 1 + Self.margin
        let parts = parts(&builder).enumerated().map { number, conditions in
            let conditions = [Self.registered, stateCondition, place(&builder)].compactMap(\.self) + conditions
            return """
                SELECT id FROM (
                    SELECT clients.id FROM clients WHERE \(conditions.joined(separator: " AND ")) \(sorting) LIMIT \(limit)
                ) AS part\(number)
                """
        }
        return builder.query(
            """
            SELECT \(RegisteredClient.columns) FROM (\(parts.joined(separator: " UNION "))) AS found
            JOIN clients ON clients.id = found.id \(sorting)
            """)
    }

    /// The query for the number of clients, of which it counts one more than `UserCount.limit`.
    var count: SQLQuery {
        var builder = Builder()
        // With the order of an index, SQLite reads this index and not the whole table.
        let limit = UserCount.limit + 1
        let found = search == nil && developer == nil ? [[]] : parts(&builder)
        let parts = found.enumerated().map { number, conditions in
            let conditions = [Self.registered, stateCondition].compactMap(\.self) + conditions
            return """
                SELECT id FROM (
                    SELECT clients.id FROM clients WHERE \(conditions.joined(separator: " AND "))
                    ORDER BY clients.name_key, clients.id LIMIT \(limit)
                ) AS part\(number)
                """
        }
        return builder.query("SELECT count(*) FROM (\(parts.joined(separator: " UNION "))) AS found")
    }

    private static let registered = "clients.source = 'console'"

    private var stateCondition: String? {
        switch state {
        case .pending: "clients.approval = 'pending' AND \(StoreQuery.isWaiting)"
        case .development: "clients.approval = 'development' AND \(StoreQuery.isWaiting)"
        case .machineAccess: StoreQuery.awaitsMachineAccess
        case .suspended: "clients.suspended_at IS NOT NULL"
        case nil: nil
        }
    }

    private var sorting: String {
        switch order {
        case .name: "ORDER BY clients.name_key, clients.id"
        case .newest: "ORDER BY clients.created_at DESC, clients.id DESC"
        }
    }

    /// The condition for the clients after the place; nil for all.
    private func place(_ builder: inout Builder) -> String? {
        guard let after else { return nil }
        switch order {
        case .name:
            return
                "(clients.name_key, clients.id) > (\(builder.parameter(after.key)), \(builder.parameter(after.id.rawValue)))"
        case .newest:
            let time = builder.parameter(Int64(after.key) ?? .max)
            return "(clients.created_at, clients.id) < (\(time), \(builder.parameter(after.id.rawValue)))"
        }
    }

    /// The conditions of each part of a search, of which a client must satisfy one.
    ///
    /// Each part is found with an index of its own.
    private func parts(_ builder: inout Builder) -> [[String]] {
        var named: [String] = []
        if let search {
            named.append("clients.name_key >= \(builder.parameter(search.text))")
            named.append("clients.name_key < \(builder.parameter(search.text + UserQuery.end))")
        }
        let id = search?.id.map { "clients.id = \(builder.parameter($0.rawValue))" }
        guard let developer else {
            let owner = search?.owner.map {
                "clients.owner_id = (SELECT people.id FROM people WHERE people.username = \(builder.parameter($0.rawValue)))"
            }
            return [named] + [id, owner].compactMap { $0.map { [$0] } }
        }
        let user = builder.parameter(developer.rawValue)
        let own = "clients.owner_id = \(user)"
        let shared = """
            clients.id IN (
                SELECT client_id FROM client_developers WHERE person_id = \(user) AND accepted_at IS NOT NULL
            )
            """
        // A user has few clients, so those with another name are read, too.
        let matching =
            named.isEmpty
            ? [] : ["(\(([named.joined(separator: " AND ")] + [id].compactMap(\.self)).joined(separator: " OR ")))"]
        return [[own] + matching, [shared] + matching]
    }

    /// The parameters of a statement, with numbers in it.
    private struct Builder {
        private var values: [(any SQLValue)?] = []

        mutating func parameter(_ value: any SQLValue) -> String {
            values.append(value)
            return "?\(values.count)"
        }

        func query(_ sql: String) -> SQLQuery { SQLQuery(sql: sql, values: values) }
    }
}
