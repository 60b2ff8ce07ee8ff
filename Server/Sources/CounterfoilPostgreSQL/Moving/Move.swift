package import CounterfoilSQL
import CounterfoilStore
import Foundation
import PostgreSQLDriver

/// The progress of a move.
package struct MoveProgress: Sendable, Hashable {
    /// The table that is copied or compared.
    package let table: String
    /// Whether the rows are being compared, after all were copied.
    package let isComparing: Bool
    /// The number of rows of all tables that were copied or compared so far.
    package let done: Int
    /// The number of rows of all tables.
    package let total: Int
}

/// The outcome of ``PostgreSQLStore/move(_:into:settings:reporting:)``.
package enum MoveOutcome: Sendable, Hashable {
    /// The content was copied and compared.
    case moved(rows: Int)
    /// An earlier move had copied the content, and ended before it could close the store that it came from.
    case wasMoved(rows: Int)
}

/// An error because of which nothing was moved; its description is written for the operator.
package enum MoveRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    /// The database is not empty, and its content is not that of the store.
    case notEmpty(database: String, table: String)
    /// The store has a table or a column that this version does not know.
    case unknown(String)
    /// The database has not confirmed that a standby has the copy.
    case notReplicated(database: String)
    /// The copied rows of a table are not those of the store.
    case differs(table: String, found: Int, expected: Int)

    package var description: String {
        switch self {
        case .notEmpty(let database, let table):
            """
            the database \(database) is not empty (\(table)) and does not equal the store; nothing was changed; \
            move into a new database; if an earlier move from this store has ended early and servers have run on the \
            database since, everything is in the database already, and no server may run on the store again
            """
        case .unknown(let name):
            "the store has \(name), which this version cannot move; nothing was changed; use the version that made it"
        case .notReplicated(let database):
            "the database \(database) did not confirm the copy; the store stays as it was; repeat the move"
        case .differs(let table, let found, let expected):
            "after the copy, the table \(table) has \(found) rows that are not the \(expected) of the store; nothing was changed; report this as a bug"
        }
    }
}

extension PostgreSQLStore {
    /// Moves the content of a store into a database, which has the tables of this version and nothing else.
    ///
    /// The copy is one transaction. At its end, each table is read again and compared with that of the store. Then the
    /// store is closed for good. If the process ends before that, the move can be repeated.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - string: The database.
    ///   - settings: The settings of the server that last ran on the store (``note(_:)``).
    ///   - report: The function that gets the progress, about once for every thousand rows.
    /// - Throws: ``MoveRefusal``, ``OpeningRefusal`` or an error of the store; the store then stays as it was.
    package static func move(
        _ store: any MovableStore, into string: ConnectionString, settings: [String: String],
        reporting report: @escaping @Sendable (MoveProgress) -> Void
    ) async throws -> MoveOutcome {
        let result: Result<Result<MoveOutcome, any Error>, OpeningRefusal>
        do throws(OpeningRefusal) {
            result = .success(
                try await withConnection(to: string, rights: .create) { connection, _ throws(OpeningRefusal) in
                    Result {
                        let outcome = try store.withExclusiveRead(to: "\(string)") { reader in
                            try Move(
                                reader: reader, connection: connection, database: "\(string)", settings: settings,
                                report: report
                            ).run()
                        }
                        // The planner knows nothing of the new rows yet.
                        _ = try? connection.exchange([Statement("ANALYZE")], by: .now + Move.patience)
                        return outcome
                    }
                })
        } catch { result = .failure(error) }
        do { return try result.get().get() } catch let error as ServerError {
            throw OpeningRefusal.failed(database: "\(string)", reason: error.description)
        } catch let error as ConnectionLoss {
            throw OpeningRefusal(.unreachable(reason: error.reason), of: "\(string)")
        }
    }
}

/// A copy of all tables into a database, in one transaction.
private struct Move {
    let reader: any TableReader
    let connection: Connection
    let database: String
    let settings: [String: String]
    let report: @Sendable (MoveProgress) -> Void

    /// The number of rows that are sent at once.
    private static let batch = 500
    /// The time limit of one batch; an index can need long for it on a slow disk.
    static let patience = Duration.seconds(600)

    /// The tables with rows in a new database.
    private static let filledTables: Set<String> = ["scopes", "branding", "registry", "endings_record"]
    /// The columns of a store in a file that a database has no use for: the clock of the server.
    private static let leftOut: [String: Set<String>] = ["service": ["boot", "boot_clock", "clock_origin"]]

    func run() throws -> MoveOutcome {
        // Between two statements, rows are read from the store, which can take long.
        _ = try send([
            Statement("BEGIN"), Statement("SET LOCAL idle_in_transaction_session_timeout = 0"),
            Statement("SET LOCAL statement_timeout = 0"), Statement("SET LOCAL synchronous_commit = on"),
        ])
        do {
            let outcome = try copyAll()
            let end = try send([Statement("COMMIT")]).last
            guard end?.command == "COMMIT", !connection.skippedReplication else {
                throw MoveRefusal.notReplicated(database: database)
            }
            return outcome
        } catch {
            _ = try? send([Statement("ROLLBACK")])
            throw error
        }
    }

    private func copyAll() throws -> MoveOutcome {
        let tables = try tables()
        try check(tables)
        // No server, no command and no other move can write from here on.
        let names = tables.map(\.name).joined(separator: ", ")
        _ = try send([Statement("LOCK TABLE \(names) IN SHARE ROW EXCLUSIVE MODE")])
        let total = try tables.reduce(0) { $0 + (try reader.count(of: $1.name)) }
        if let filled = try firstFilled(of: tables) {
            guard try isCopied(tables, total: total) else {
                throw MoveRefusal.notEmpty(database: database, table: filled)
            }
            return .wasMoved(rows: total)
        }
        // The triggers would make what is copied anyway.
        _ = try send(tables.map { Statement("ALTER TABLE \($0.name) DISABLE TRIGGER USER") })
        _ = try send(
            tables.reversed().filter { Self.filledTables.contains($0.name) }.map {
                Statement("DELETE FROM \($0.name)")
            })
        var sums: [String: TableSum] = [:]
        var done = 0
        for table in tables {
            sums[table.name] = try copy(table, done: &done, total: total)
            try continueNumbers(of: table)
        }
        done = 0
        for table in tables {
            let (expected, found) = (sums[table.name] ?? TableSum(), try sum(of: table, done: &done, total: total))
            guard found == expected else {
                throw MoveRefusal.differs(table: table.name, found: found.rows, expected: expected.rows)
            }
        }
        _ = try send(tables.map { Statement("ALTER TABLE \($0.name) ENABLE TRIGGER USER") })
        // A server that has cached the registry of the empty database must read it again.
        _ = try send([Statement("UPDATE registry SET revision = random_revision()")])
        for (name, text) in settings.sorted(by: { $0.key < $1.key }) {
            _ = try send([
                Statement(
                    """
                    INSERT INTO noted_settings (name, text) VALUES ($1, $2)
                    ON CONFLICT (name) DO UPDATE SET text = excluded.text
                    """, name, text)
            ])
        }
        return .moved(rows: total)
    }

    /// The schema with the tables, which need not be the first one of the `search_path`.
    private static let schema = """
        (SELECT relnamespace FROM pg_class WHERE oid = to_regclass('counterfoil_schema'))
        """

    /// Returns the tables that the database and the store have in common, each after those that it refers to.
    private func tables() throws -> [StoredTable] {
        let known = try reader.tables()
        let columns =
            try send([
                Statement(
                    """
                    SELECT class.relname::text, attribute.attname::text, format_type(attribute.atttypid, NULL)
                    FROM pg_class AS class JOIN pg_attribute AS attribute ON attribute.attrelid = class.oid
                    WHERE class.relnamespace = \(Self.schema) AND class.relkind IN ('r', 'p')
                        AND NOT class.relispartition AND attribute.attnum > 0 AND NOT attribute.attisdropped
                    ORDER BY class.relname, attribute.attnum
                    """)
            ]).first?.all { (table: try $0.text(), column: try $0.text(), type: try $0.text()) } ?? []
        let references =
            try send([
                Statement(
                    """
                    SELECT source.relname::text, target.relname::text FROM pg_constraint AS key
                    JOIN pg_class AS source ON source.oid = key.conrelid
                    JOIN pg_class AS target ON target.oid = key.confrelid
                    WHERE key.contype = 'f' AND source.relnamespace = \(Self.schema)
                        AND source.oid <> target.oid
                    """)
            ]).first?.all { (table: try $0.text(), other: try $0.text()) } ?? []
        var left: [String: [StoredTable.Column]] = [:]
        for column in columns where known[column.table] != nil {
            let type: StoredTable.ValueType =
                switch column.type {
                case "bigint": .integer
                case "bytea": .bytes
                default: .text
                }
            left[column.table, default: []].append(StoredTable.Column(name: column.column, type: type))
        }
        var ordered: [StoredTable] = []
        while !left.isEmpty {
            let free = left.keys.filter { name in
                !references.contains { $0.table == name && left[$0.other] != nil }
            }.sorted()
            // There are no circles of references; without this, one would make the loop endless.
            for name in free.isEmpty ? left.keys.sorted() : free {
                ordered.append(StoredTable(name: name, columns: left.removeValue(forKey: name) ?? []))
            }
        }
        return ordered
    }

    /// Throws unless each table and each column of the store has a place in the database.
    private func check(_ tables: [StoredTable]) throws {
        let places = Dictionary(uniqueKeysWithValues: tables.map { ($0.name, Set($0.columns.map(\.name))) })
        for (table, columns) in try reader.tables().sorted(by: { $0.key < $1.key }) {
            guard let place = places[table] else { throw MoveRefusal.unknown("a table \(table)") }
            let unknown = columns.subtracting(place).subtracting(Self.leftOut[table] ?? [])
            guard let column = unknown.sorted().first else { continue }
            throw MoveRefusal.unknown("a column \(table).\(column)")
        }
    }

    /// Returns the first table with rows that a new database does not have; nil if there is none.
    private func firstFilled(of tables: [StoredTable]) throws -> String? {
        for table in tables where !Self.filledTables.contains(table.name) {
            let isFilled = try send([Statement("SELECT EXISTS (SELECT 1 FROM \(table.name))")]).first?.answers()
            if isFilled == [true] { return table.name }
        }
        return nil
    }

    /// Returns true if the database has exactly the rows of the store.
    private func isCopied(_ tables: [StoredTable], total: Int) throws -> Bool {
        var done = 0
        for table in tables {
            var expected = TableSum()
            try reader.forEachRow(of: table) { row in
                expected.add(row)
                guard expected.rows.isMultiple(of: Self.batch) else { return }
                report(MoveProgress(table: table.name, isComparing: true, done: done, total: total))
            }
            let found = try sum(of: table, done: &done, total: total)
            // The revision of the registry is a new one.
            guard found == expected || table.name == "registry" else { return false }
        }
        return true
    }

    private func copy(_ table: StoredTable, done: inout Int, total: Int) throws -> TableSum {
        var sum = TableSum()
        var batch: [[SQLParameter]] = []
        func flush() throws {
            guard !batch.isEmpty else { return }
            _ = try send([Self.insertion(of: batch, into: table)])
            done += batch.count
            batch = []
            report(MoveProgress(table: table.name, isComparing: false, done: done, total: total))
        }
        try reader.forEachRow(of: table) { row in
            sum.add(row)
            batch.append(row)
            if batch.count == Self.batch { try flush() }
        }
        try flush()
        return sum
    }

    /// Returns the statement that inserts rows, with one array for each column.
    private static func insertion(of rows: [[SQLParameter]], into table: StoredTable) -> Statement {
        let arrays = table.columns.enumerated().map { position, column in
            "$\(position + 1)::\(column.type.name)[]"
        }
        let values: [(any ParameterValue)?] = table.columns.enumerated().map { position, column in
            let values = rows.map { $0[position] }
            switch column.type {
            case .integer: return values.map(\.integer)
            case .text: return values.map(\.text)
            case .bytes: return values.map(\.bytes)
            }
        }
        return Statement(
            "INSERT INTO \(table.name) (\(table.columnList)) SELECT * FROM unnest(\(arrays.joined(separator: ", ")))",
            values: values)
    }

    /// Makes the database number new rows of a table after those of the store, also after deleted ones.
    private func continueNumbers(of table: StoredTable) throws {
        let last = try reader.lastNumber(of: table.name) ?? 0
        for column in table.columns where column.type == .integer {
            _ = try send([
                Statement(
                    """
                    SELECT setval(sequence, greatest($1, coalesce((SELECT max(\(column.name)) FROM \(table.name)), 0)))
                    FROM pg_get_serial_sequence($2, $3) AS sequence
                    WHERE sequence IS NOT NULL
                        AND greatest($1, coalesce((SELECT max(\(column.name)) FROM \(table.name)), 0)) > 0
                    """, last, table.name, column.name)
            ])
        }
    }

    /// Computes the sum of the rows in the database, a part at a time.
    private func sum(of table: StoredTable, done: inout Int, total: Int) throws -> TableSum {
        var sum = TableSum()
        _ = try send([
            Statement("DECLARE copied NO SCROLL CURSOR FOR SELECT \(table.columnList) FROM \(table.name)")
        ])
        while let rows = try send([Statement("FETCH \(4 * Self.batch) FROM copied")]).first, rows.count > 0 {
            _ = try rows.forEach { columns in
                sum.add(try table.values(&columns))
                return .next
            }
            done += rows.count
            report(MoveProgress(table: table.name, isComparing: true, done: done, total: total))
        }
        _ = try send([Statement("CLOSE copied")])
        return sum
    }

    private func send(_ statements: [Statement]) throws -> [Rows] {
        try connection.exchange(statements, by: .now + Self.patience)
    }
}

extension StoredTable.ValueType {
    /// The name of the type in PostgreSQL.
    fileprivate var name: String {
        switch self {
        case .integer: "bigint"
        case .text: "text"
        case .bytes: "bytea"
        }
    }
}

extension SQLParameter {
    /// The value of a column of integers; nil for a null.
    fileprivate var integer: Int64? { if case .integer(let number) = self { number } else { nil } }
    /// The value of a column of texts; nil for a null.
    fileprivate var text: String? { if case .text(let text) = self { text } else { nil } }
    /// The value of a column of bytes; nil for a null.
    fileprivate var bytes: Data? { if case .bytes(let bytes) = self { bytes } else { nil } }
}
