public import CounterfoilStore

extension SQLStore {
    /// Finds users, in the order of their user names.
    public func users(matching query: UserQuery) async throws(StoreFault) -> UserPage {
        try await read { database in
            let extent = try database.extent(of: query)
            let page = query.page(in: extent)
            let found = try database.list(
                page.sql, values: page.values, atMost: query.limit + 1, noting: unsupported,
                read: UserOverview.init(_:))
            let users = Array(found.prefix(query.limit))
            return UserPage(
                users: users, next: found.count > query.limit ? users.last?.user.username : extent.last,
                isTooBroad: extent.isTooBroad)
        }
    }

    /// Counts the users whom a query finds among those that one call examines.
    public func userCount(matching query: UserQuery) async throws(StoreFault) -> UserCount {
        var query = query
        query.after = nil
        return try await read { [query] database in
            let extent = try database.extent(of: query)
            let count = query.count(in: extent)
            let number = try database.first(count.sql, values: count.values) { columns in Int(try columns.integer()) }
            return UserCount(number ?? 0, isExact: extent.last == nil && !extent.isTooBroad)
        }
    }

    /// Reads a user as lists show one.
    public func userOverview(_ id: UserIdentifier) async throws(StoreFault) -> UserOverview? {
        try await read { database in
            try database.first(
                "SELECT \(UserOverview.columns) FROM people WHERE people.id = ?", id.rawValue,
                read: UserOverview.init(_:))
        }
    }

    /// Counts what the deletion of a user would delete.
    public func removalCounts(of user: UserIdentifier) async throws(StoreFault) -> RemovalCounts? {
        try await read { database in
            try database.first(RemovalCounts.query, user.rawValue, UserCount.limit + 1) { columns in
                RemovalCounts(
                    sessions: UserCount(Int(try columns.integer())), passkeys: UserCount(Int(try columns.integer())),
                    consents: UserCount(Int(try columns.integer())), grants: UserCount(Int(try columns.integer())),
                    clients: UserCount(Int(try columns.integer())), events: UserCount(Int(try columns.integer())))
            }
        }
    }
}

/// The records that one call for a query examines.
struct UserQueryExtent {
    /// The last username that is examined; nil if the call examines all that are left.
    var last: Username?
    /// Whether the email addresses that begin with the text of the search are examined.
    var hasEmails = true
    /// Whether the display names that begin with the text of the search are examined.
    var hasNames = true

    var isTooBroad: Bool { !hasEmails || !hasNames }
}

extension SQLConnection {
    fileprivate func extent(of query: UserQuery) throws -> UserQueryExtent {
        var extent = UserQueryExtent()
        let last = query.lastExamined
        let names = try all(last.sql, values: last.values) { columns in Username(try columns.text()) }
        // The last of them that is valid: a username that cannot be read cannot continue a list.
        if names.count > UserQuery.margin { extent.last = names.dropLast().compactMap(\.self).last }
        if let excess = query.excess {
            let answers = try first(excess.sql, values: excess.values) { columns in
                (emails: try columns.flag(), names: try columns.flag())
            }
            extent.hasEmails = answers?.emails == false
            extent.hasNames = answers?.names == false
        }
        return extent
    }
}

/// A statement with its parameters.
struct SQLQuery {
    var sql: String
    var values: [(any SQLValue)?] = []
}

extension UserQuery {
    /// A text after every other one, in the order of bytes in UTF-8.
    static let end = "\u{10FFFF}"
    /// The number of records at the end of an extent of which one must have a valid username.
    fileprivate static let margin = 10

    /// The condition by which an index finds the users, before the others are tested; its parameter is ``beginning``.
    private var indexed: String {
        let begins = "people.username \(beginsWithSearch ? ">=" : ">") ?1"
        if search == nil, state == .disabled { return begins + " AND people.disabled_at IS NOT NULL" }
        if search == nil, case .role(let role) = role { return begins + " AND people.role = '\(role.rawValue)'" }
        return begins
    }

    /// The lower bound of the usernames that the condition finds.
    ///
    /// There is one such bound, and one upper one: SQLite finds rows by the first of several, and reads all others.
    private var beginning: String { beginsWithSearch ? search?.text ?? "" : after?.rawValue ?? "" }

    /// Whether the text of the search follows the username after which the users are.
    private var beginsWithSearch: Bool {
        guard let search else { return false }
        return (after?.rawValue ?? "").utf8.lexicographicallyPrecedes(search.text.utf8)
    }

    /// The upper bound of the usernames in an extent.
    private func ending(in extent: UserQueryExtent) -> String {
        extent.last?.rawValue ?? (search?.text ?? "") + Self.end
    }

    /// The query for the last usernames that one call examines, and the one after them.
    var lastExamined: SQLQuery {
        let examined = search == nil ? Self.examined : Self.candidates
        return SQLQuery(
            sql: """
                SELECT people.username FROM people
                WHERE \(indexed)\(search == nil ? "" : " AND people.username <= ?2")
                ORDER BY people.username LIMIT \(Self.margin + 1) OFFSET \(examined - Self.margin)
                """,
            values: search == nil ? [beginning] : [beginning, ending(in: UserQueryExtent())])
    }

    /// The query that tells whether too many email addresses and display names begin with the text of the search.
    var excess: SQLQuery? {
        guard let search else { return nil }
        func exceeds(_ column: String) -> String {
            "EXISTS (SELECT 1 FROM people WHERE \(column) >= ?1 AND \(column) < ?2 LIMIT 1 OFFSET \(Self.candidates))"
        }
        return SQLQuery(
            sql: "SELECT \(exceeds("email")), \(exceeds("display_name_key"))",
            values: [search.text, search.text + Self.end])
    }

    /// The query for the users in an extent, without a limit.
    func page(in extent: UserQueryExtent) -> SQLQuery {
        var query = selection(in: extent)
        query.sql = "SELECT \(UserOverview.columns) \(query.sql) ORDER BY people.username"
        return query
    }

    /// The query for the number of users in an extent, of which it counts one more than `UserCount.limit`.
    func count(in extent: UserQueryExtent) -> SQLQuery {
        var query = selection(in: extent)
        query.sql = """
            SELECT count(*) FROM (SELECT 1 AS one \(query.sql) LIMIT \(UserCount.limit + 1)) AS counted
            """
        return query
    }

    private func selection(in extent: UserQueryExtent) -> SQLQuery {
        // Both ends are always given, so that a planner without statistics expects a short range, too.
        var values: [(any SQLValue)?] = [beginning, ending(in: extent)]
        func parameter(_ value: any SQLValue) -> String {
            values.append(value)
            return "?\(values.count)"
        }
        var source = "people"
        var conditions = ["\(indexed) AND people.username <= ?2"]
        if let search {
            var found = ["SELECT number FROM people WHERE \(conditions[0])"]
            let columns = (extent.hasEmails ? ["email"] : []) + (extent.hasNames ? ["display_name_key"] : [])
            for column in columns {
                let (first, last) = (parameter(search.text), parameter(search.text + Self.end))
                found.append("SELECT number FROM people WHERE \(column) >= \(first) AND \(column) < \(last)")
            }
            if let id = search.identifier {
                found.append("SELECT number FROM people WHERE id = \(parameter(id.rawValue))")
            }
            // SQLite would merge a single query into the other one, and then begin with the first username.
            if found.count > 1 {
                // The limit, which is never reached, tells PostgreSQL how few they are.
                let parts = found.enumerated().map { number, part in
                    "SELECT number FROM (\(part) LIMIT \(Self.candidates + 1)) AS part\(number)"
                }
                source = "(\(parts.joined(separator: " UNION "))) AS found JOIN people ON people.number = found.number"
                // Users who are found otherwise are on the page on which their usernames are. The expression is in no
                // index, so that no database reads all users in between to find these.
                conditions = ["people.username || '' > \(parameter(after?.rawValue ?? ""))"]
                if let last = extent.last {
                    conditions.append("people.username || '' <= \(parameter(last.rawValue))")
                }
            }
        }
        switch state {
        case .enabled: conditions.append("people.disabled_at IS NULL")
        case .disabled: conditions.append("people.disabled_at IS NOT NULL")
        case nil: break
        }
        switch role {
        // The names of roles need no parameter.
        case .role(let role): conditions.append("people.role = '\(role.rawValue)'")
        case .noRole: conditions.append("people.role IS NULL")
        case nil: break
        }
        switch lastSignIn {
        case .never: conditions.append("people.last_sign_in_at IS NULL")
        case .before(let time): conditions.append("people.last_sign_in_at < \(parameter(time.microseconds))")
        case .since(let time): conditions.append("people.last_sign_in_at >= \(parameter(time.microseconds))")
        case nil: break
        }
        if lacksSecondFactor { conditions.append("people.has_second_factor = 0") }
        if lacksPasskey {
            conditions.append("NOT EXISTS (SELECT 1 FROM passkeys WHERE \(UserOverview.isPasskey))")
        }
        return SQLQuery(sql: "FROM \(source) WHERE \(conditions.joined(separator: " AND "))", values: values)
    }
}

extension UserOverview {
    /// The condition that a row of `passkeys` is a passkey of the user, and no security key.
    fileprivate static let isPasskey = "passkeys.person_id = people.id AND passkeys.is_security_key = 0"

    /// The column names, each with the name of the table as a prefix, and the number of passkeys.
    static let columns = """
        \(User.columns), people.last_sign_in_at, people.has_second_factor,
        (SELECT count(*) FROM passkeys WHERE \(isPasskey))
        """

    fileprivate init(_ columns: inout Columns) throws {
        self.init(
            user: try User(&columns), lastSignInAt: try columns.optionalDate(), hasSecondFactor: try columns.flag(),
            passkeys: Int(try columns.integer()))
    }
}

extension RemovalCounts {
    /// The query for the numbers of the records of user ?1, each at most ?2.
    static let query = """
        SELECT (SELECT count(*) FROM (SELECT 1 AS one FROM sessions WHERE person_id = people.id LIMIT ?2) AS counted),
            (SELECT count(*) FROM (
                SELECT 1 AS one FROM passkeys WHERE \(UserOverview.isPasskey) LIMIT ?2) AS counted),
            (SELECT count(*) FROM (SELECT 1 AS one FROM consents WHERE person_id = people.id LIMIT ?2) AS counted),
            (SELECT count(*) FROM (SELECT 1 AS one FROM grants WHERE person_number = people.number LIMIT ?2) AS counted),
            (SELECT count(*) FROM (SELECT 1 AS one FROM clients WHERE owner_id = people.id LIMIT ?2) AS counted),
            (SELECT count(*) FROM (SELECT 1 AS one FROM audit WHERE person_id = people.id LIMIT ?2) AS counted)
        FROM people WHERE people.id = ?1
        """
}
