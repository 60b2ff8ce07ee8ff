import PostgreSQLDriver

/// The version of the tables in a database: the number of the last step that was applied.
struct SchemaVersion: Sendable, Hashable {
    let number: Int64
    /// The number of the last step of the oldest program that can use the tables.
    let oldestProgram: Int64

    /// A step from one version to the next.
    struct Step: Sendable {
        let statements: [Statement]
        /// Whether programs that know only earlier steps can use the tables after this one.
        let keepsEarlierPrograms: Bool
    }

    /// Every step, oldest first; the first one creates the tables of version 1.
    ///
    /// The number of a step is its position, counted from 1.
    ///
    /// A step never changes after its release. First, a step only adds something. A later one takes away what no
    /// supported version uses. The servers continue meanwhile, so a step takes all its locks at its beginning, and does
    /// nothing that takes long while it has them.
    static let steps = [Step(statements: Tables.all, keepsEarlierPrograms: false)]

    /// The names of all tables that the steps create, and of the table of the version.
    static let tables: [String] =
        ["counterfoil_schema"]
        + steps.flatMap(\.statements).compactMap { statement in
            let words =
                statement.sql.split(whereSeparator: \.isNewline).filter { !$0.hasPrefix("--") }
                .first?.split(separator: " ") ?? []
            return words.starts(with: ["CREATE", "TABLE"]) && words.count > 2 ? String(words[2]) : nil
        }

    /// Reads the version of the tables; nil if the database has none.
    static func read(on connection: Connection, by deadline: ContinuousClock.Instant) throws -> SchemaVersion? {
        let exists = try connection.exchange(
            [Statement("SELECT to_regclass('counterfoil_schema') IS NOT NULL")], by: deadline
        ).first?.answers()
        return exists == [true] ? try stored(on: connection, by: deadline) : nil
    }

    /// An error for tables from before version 1, whose table of the version has another column.
    struct Unreleased: Error {}

    /// Reads the version from its table, which exists.
    private static func stored(
        on connection: Connection, by deadline: ContinuousClock.Instant
    ) throws -> SchemaVersion? {
        do {
            return try connection.exchange(
                [Statement("SELECT version, oldest_program FROM counterfoil_schema")], by: deadline
            ).first?.first { columns in
                SchemaVersion(number: try columns.integer(), oldestProgram: try columns.integer())
            }
        } catch let error as ServerError where error.state == .undefinedColumn {
            throw Unreleased()
        }
    }

    /// Throws unless a program with some steps can use tables of a version.
    static func check(
        _ version: SchemaVersion?, of database: String, by steps: [Step] = steps
    ) throws(OpeningRefusal) {
        guard let version else { throw .noTables(database: database) }
        guard version.number >= steps.count else { throw .earlierTables(database: database) }
        guard version.oldestProgram <= steps.count else { throw .laterTables(database: database) }
    }

    /// Applies the missing steps in one transaction, and returns the number of those that were applied.
    ///
    /// Two programs that do this at the same time wait for each other. If no step is missing, nothing is locked. A step
    /// may lock a table that servers use, and their requests wait behind it. So it waits for each lock only for a short
    /// time, gives back the locks that it has, and tries again, for ``patience`` at most.
    ///
    /// Afterwards, the programs for the former tables can start until they are replaced, and no earlier ones.
    static func migrate(
        _ database: String, on connection: Connection, by deadline: ContinuousClock.Instant, steps: [Step] = steps
    ) throws -> Int {
        if let version = try read(on: connection, by: deadline), version.number >= steps.count {
            try check(version, of: database, by: steps)
            return 0
        }
        try checkSchema(of: database, on: connection, by: deadline)
        let limit = ContinuousClock.now + patience
        var backOff = BackOff(first: .milliseconds(50), limit: .seconds(1))
        while true {
            do {
                return try apply(steps, to: database, on: connection, by: deadline)
            } catch let error as ServerError where error.state == .lockNotAvailable || error.state.allowsRepetition {
                let pause = backOff.next()
                guard .now + pause < limit else { throw error }
                BackOff.sleep(pause)
            }
        }
    }

    /// The time for which a migration tries to get the locks that it needs.
    private static let patience = Duration.seconds(60)

    /// Applies the missing steps, if it gets every lock soon.
    private static func apply(
        _ steps: [Step], to database: String, on connection: Connection, by deadline: ContinuousClock.Instant
    ) throws -> Int {
        do {
            try begin(on: connection, by: deadline)
            let version = try stored(on: connection, by: deadline)
            let applied = Int(version?.number ?? 0)
            guard applied < steps.count else {
                _ = try connection.exchange([Statement("ROLLBACK")], by: deadline)
                try check(version, of: database, by: steps)
                return 0
            }
            let missing = steps.dropFirst(applied)
            // The servers that are about to be replaced know the former steps. What an earlier program does was not
            // considered for the new ones.
            let oldest = missing.allSatisfy(\.keepsEarlierPrograms) ? version?.number : nil
            for step in missing { _ = try connection.exchange(step.statements, by: deadline) }
            _ = try connection.exchange(
                [
                    Statement(
                        """
                        INSERT INTO counterfoil_schema (id, version, oldest_program) VALUES (1, $1, $2)
                        ON CONFLICT (id) DO UPDATE SET version = $1, oldest_program = $2
                        """, Int64(steps.count), oldest ?? Int64(steps.count)),
                    Statement("COMMIT"),
                ], by: deadline)
            return missing.count
        } catch {
            _ = try? connection.exchange([Statement("ROLLBACK")], by: deadline)
            throw error
        }
    }

    private static func begin(on connection: Connection, by deadline: ContinuousClock.Instant) throws {
        do {
            _ = try connection.exchange([Statement("BEGIN")] + opening, by: deadline)
        } catch let error as ServerError where [.uniqueViolation, .duplicateTable].contains(error.state) {
            // Another program has created the table at the same time.
            _ = try connection.exchange([Statement("ROLLBACK")], by: deadline)
            _ = try connection.exchange([Statement("BEGIN")] + opening, by: deadline)
        }
    }

    /// Throws if the tables are in another schema than new ones would be.
    ///
    /// New tables would then hide those with the data.
    private static func checkSchema(
        of database: String, on connection: Connection, by deadline: ContinuousClock.Instant
    ) throws {
        let places = try connection.exchange(
            [
                Statement(
                    """
                    SELECT relnamespace::regnamespace::text, current_schema()::text FROM pg_class
                    WHERE oid = to_regclass('counterfoil_schema') AND relnamespace <> current_schema()::regnamespace
                    """)
            ], by: deadline
        ).first?.first { columns in (tables: try columns.text(), new: try columns.text()) }
        guard let places else { return }
        throw OpeningRefusal.failed(
            database: database,
            reason: "its tables are in the schema \(places.tables), but new ones would be in \(places.new); "
                + "correct the search_path of the user")
    }

    /// The statements that limit the time to wait for each lock, create the table of the version if it is missing, and
    /// lock it until the end of the transaction.
    private static let opening = [
        Statement("SET LOCAL lock_timeout = '1s'"),
        Statement(
            """
            CREATE TABLE IF NOT EXISTS counterfoil_schema (
                id bigint NOT NULL PRIMARY KEY CHECK (id = 1),
                version bigint NOT NULL,
                oldest_program bigint NOT NULL
            )
            """),
        Statement("LOCK TABLE counterfoil_schema IN ACCESS EXCLUSIVE MODE"),
    ]
}
