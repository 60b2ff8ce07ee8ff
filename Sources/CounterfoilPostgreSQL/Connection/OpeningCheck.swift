import CounterfoilSQL
import CounterfoilServer

/// The rights that the user of a connection needs.
enum DatabaseRights: Sendable {
    /// Use the tables of the current schema.
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
}
