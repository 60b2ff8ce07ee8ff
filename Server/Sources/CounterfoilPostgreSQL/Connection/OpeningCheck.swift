import CounterfoilSQL
import CounterfoilStore

/// The rights that the user of a connection needs.
enum DatabaseRights: Sendable {
    /// Read and change the tables.
    case use
    /// Create tables in the current schema.
    case create
}

/// The checks of a database before its first use, in addition to those of each connection.
struct OpeningCheck {
    private let string: ConnectionString
    private let limits: SessionLimits
    private let rights: DatabaseRights

    init(_ string: ConnectionString, _ limits: SessionLimits, _ rights: DatabaseRights) {
        self.string = string
        self.limits = limits
        self.rights = rights
    }

    /// Connects, checks the database, and returns its time.
    func run() throws(OpeningRefusal) -> ClockMeasurement {
        let opened = try Connection.open(string, limits: limits)
        if opened.hasPooler { try checkPooler(opened.connection) }
        try checkRights(opened.connection)
        if rights == .use { try checkTableRights(opened.connection) }
        return opened.clock
    }

    /// Refuses a pooler in transaction mode that passes the names of prepared statements on unchanged.
    ///
    /// Such a pooler gives the server connection of one client to another after each transaction. The evidence is that
    /// two clients, which are connected at the same time, see the same server process, or one of them sees two. A
    /// pooler in session mode passes names on, too, but each client has a server process of its own. A pooler that
    /// supports prepared statements gives them names of its own.
    private func checkPooler(_ first: Connection) throws(OpeningRefusal) {
        guard let process = try serverProcess(of: first) else { return }
        let second: Connection
        do { second = try Connection.open(string, limits: limits).connection } catch {
            // In transaction mode, this one would have got the server connection of the first one, which is idle. In
            // session mode, the pool has no other.
            if case .unreachable(_, _, .unanswered) = error { return }
            throw error
        }
        let refusal = OpeningRefusal.poolerWithoutStatements(database: "\(string)")
        guard let other = try serverProcess(of: second), other != process else { throw refusal }
        // A pooler that gives its server connections in turn shows it to a client with two statements in a row.
        for _ in 0..<2 {
            guard try serverProcess(of: first) == process else { throw refusal }
        }
        for _ in 0..<2 {
            guard try serverProcess(of: second) == other else { throw refusal }
        }
    }

    /// Returns the server process that runs a prepared statement of a client; nil if the statement has another name
    /// there.
    private func serverProcess(of client: Connection) throws(OpeningRefusal) -> Int64? {
        let probe = Statement(
            "SELECT pg_backend_pid()::int8, EXISTS (SELECT 1 FROM pg_prepared_statements WHERE name = $1)", "")
        let named = Statement(probe.sql, probe.key.name)
        do {
            let answer = try client.exchange([named], by: .now + string.connectLimit).first?.first { columns in
                (process: try columns.integer(), keepsName: try columns.flag())
            }
            return answer.flatMap { $0.keepsName ? $0.process : nil }
        } catch let error as ServerError where error.state.showsPooler {
            throw .poolerWithoutStatements(database: "\(string)")
        } catch {
            throw .unreachable(database: "\(string)", reason: "\(StoreFault(error))", obstacle: .unanswered)
        }
    }

    private func checkRights(_ connection: Connection) throws(OpeningRefusal) {
        let sql = """
            SELECT current_user::text, current_schema()::text, current_setting('search_path'),
                coalesce(has_schema_privilege(current_schema(), 'USAGE'), false),
                coalesce(has_schema_privilege(current_schema(), 'CREATE'), false)
            """
        let answer: (user: String, schema: String?, path: String, mayUse: Bool, mayCreate: Bool)?
        do {
            answer = try connection.exchange([Statement(sql)], by: .now + string.connectLimit).first?.first { columns in
                (
                    try columns.text(), try columns.optionalText(), try columns.text(), try columns.flag(),
                    try columns.flag()
                )
            }
        } catch {
            throw .unreachable(database: "\(string)", reason: "\(StoreFault(error))")
        }
        guard let answer else { return }
        guard let schema = answer.schema else {
            throw .missingRights(
                database: "\(string)", reason: "\(answer.user) can use no schema of the search_path \(answer.path)",
                remedy: "GRANT USAGE, CREATE ON SCHEMA public TO \(answer.user)")
        }
        if !answer.mayUse {
            throw .missingRights(
                database: "\(string)", reason: "\(answer.user) cannot use the schema \(schema)",
                remedy: "GRANT USAGE ON SCHEMA \(schema) TO \(answer.user)")
        }
        if rights == .create && !answer.mayCreate {
            throw .missingRights(
                database: "\(string)", reason: "\(answer.user) cannot create tables in the schema \(schema)",
                remedy: "GRANT USAGE, CREATE ON SCHEMA \(schema) TO \(answer.user)")
        }
    }

    /// The rights that the program needs to a table.
    private struct TableRights {
        let schema: String
        let table: String
        let missing: String
    }

    /// The number of tables that a refusal names.
    private static let namedTables = 3

    /// Refuses a user who lacks a right to a table that exists.
    ///
    /// Without this check, the server would start, and refuse the first request that needs the right.
    private func checkTableRights(_ connection: Connection) throws(OpeningRefusal) {
        // The version of the tables is only read.
        let sql = """
            SELECT relnamespace::regnamespace::text, relname::text, string_agg(needed, ', ' ORDER BY place),
                current_user::text
            FROM unnest($1::text[]) AS tables (name) JOIN pg_class ON pg_class.oid = to_regclass(name)
                CROSS JOIN unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) WITH ORDINALITY AS rights (needed, place)
            WHERE NOT has_table_privilege(pg_class.oid, needed) AND (needed = 'SELECT' OR name <> 'counterfoil_schema')
            GROUP BY 1, 2 ORDER BY 1, 2
            """
        let lacking: [(rights: TableRights, user: String)]
        do {
            let statement = Statement(sql, SchemaVersion.tables)
            lacking =
                try connection.exchange([statement], by: .now + string.connectLimit).first?.all { columns in
                    (
                        TableRights(
                            schema: try columns.text(), table: try columns.text(), missing: try columns.text()),
                        try columns.text()
                    )
                } ?? []
        } catch {
            throw .unreachable(database: "\(string)", reason: "\(StoreFault(error))")
        }
        guard let first = lacking.first else { return }
        let named = lacking.prefix(Self.namedTables).map { "\($0.rights.missing) on \($0.rights.table)" }
        let others = lacking.count - named.count
        let tail = others == 0 ? "" : ", and rights on \(others) other \(others == 1 ? "table" : "tables")"
        let all = "SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA \(first.rights.schema)"
        throw .missingRights(
            database: "\(string)", reason: "\(first.user) lacks \(named.joined(separator: ", "))\(tail)",
            remedy: "GRANT \(all) TO \(first.user)")
    }
}
