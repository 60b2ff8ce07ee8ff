import PostgreSQLDriver

/// The rights that the user of a connection needs.
enum DatabaseRights: Sendable {
    /// Read and change the tables.
    case use
    /// Create tables in the current schema.
    case create
}

/// The checks of a database before its first use, in addition to those of each connection.
struct OpeningCheck {
    let string: ConnectionString
    let limits: SessionLimits
    let rights: DatabaseRights

    /// Connects, checks the database, and returns the connection.
    func run() throws(OpeningRefusal) -> Connection {
        let connection: Connection
        do { connection = try Connection.openChecked(string.uri, limits: limits).connection } catch {
            throw OpeningRefusal(error, of: "\(string)")
        }
        try checkRights(connection)
        if rights == .use { try checkTableRights(connection) }
        return connection
    }

    private func checkRights(_ connection: Connection) throws(OpeningRefusal) {
        let sql = """
            SELECT current_user::text, current_schema()::text, current_setting('search_path'),
                coalesce(has_schema_privilege(current_schema(), 'USAGE'), false),
                coalesce(has_schema_privilege(current_schema(), 'CREATE'), false)
            """
        let answer: (user: String, schema: String?, path: String, mayUse: Bool, mayCreate: Bool)?
        do {
            answer = try connection.exchange([Statement(sql)], by: .now + string.uri.connectLimit).first?.first { row in
                (try row.text(), try row.optionalText(), try row.text(), try row.flag(), try row.flag())
            }
        } catch {
            throw OpeningRefusal(passing: error, of: "\(string)")
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
                try connection.exchange([statement], by: .now + string.uri.connectLimit).first?.all { columns in
                    (
                        TableRights(
                            schema: try columns.text(), table: try columns.text(), missing: try columns.text()),
                        try columns.text()
                    )
                } ?? []
        } catch {
            throw OpeningRefusal(passing: error, of: "\(string)")
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
