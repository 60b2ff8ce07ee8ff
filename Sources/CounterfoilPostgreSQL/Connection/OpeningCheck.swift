import CounterfoilSQL
import CounterfoilServer

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

    /// The number of connections that look for a pooler in transaction mode.
    private static let poolerProbes = 4

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
    /// Such a pooler gives the server connection of one client to another after each transaction. The evidence is two
    /// clients that are connected at the same time and see the same server process. A pooler in session mode passes
    /// names on, too, but each client has a server process of its own. A pooler that supports prepared statements gives
    /// them names of its own.
    private func checkPooler(_ first: Connection) throws(OpeningRefusal) {
        let probe = Statement(
            "SELECT pg_backend_pid()::int8, EXISTS (SELECT 1 FROM pg_prepared_statements WHERE name = $1)", "")
        let named = Statement(probe.sql, probe.key.name)
        var processes: Set<Int64> = []
        var clients: [Connection] = []
        for number in 0..<Self.poolerProbes {
            let connection = try number == 0 ? first : Connection.open(string, limits: limits).connection
            // A connection that is closed would give its server process to the next one.
            clients.append(connection)
            let answer = try? connection.exchange([named], by: .now + string.connectLimit).first?.first { columns in
                (process: try columns.integer(), keepsName: try columns.flag())
            }
            guard let answer else { throw .poolerWithoutStatements(database: "\(string)") }
            guard answer.keepsName else { return }
            guard processes.insert(answer.process).inserted else {
                throw .poolerWithoutStatements(database: "\(string)")
            }
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
