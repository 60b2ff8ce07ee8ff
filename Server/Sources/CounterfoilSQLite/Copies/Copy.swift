package import CounterfoilProtocol
import CounterfoilSQL
import CounterfoilStore
import Foundation
import GRDB

extension SQLiteStore {
    /// The facts in the record of a copy that the store does not know.
    package struct CopyTerms: Sendable {
        let issuer: Issuer?
        let program: String
        let isInJournal: Bool
        let takenAt: Int64

        /// Creates the terms of a copy.
        ///
        /// - Parameters:
        ///   - issuer: The issuer of the server; nil if none has run.
        ///   - program: The version of the program.
        ///   - isInJournal: Whether the endings journal has a mark from after `takenAt`.
        ///   - takenAt: The time of the copy in microseconds, read before anything else is done.
        package init(issuer: Issuer?, program: String, isInJournal: Bool, takenAt: Int64) {
            self.issuer = issuer
            self.program = program
            self.isInJournal = isInJournal
            self.takenAt = takenAt
        }
    }

    /// Writes a copy of the database, as it is at one point in time, to an empty file, and syncs it.
    ///
    /// Servers and commands can write to the database meanwhile. The WAL grows until the copy is complete. What was
    /// deleted is not in the copy.
    ///
    /// A database that another program has added a table to is refused, because a restore would refuse its copy.
    ///
    /// - Parameters:
    ///   - path: The path of the file; its content is a copy only when this function returns.
    ///   - descriptor: The file, open for reading and writing.
    ///   - terms: What the record of the copy says.
    /// - Returns: The record.
    /// - Throws: `CopyRefusal.otherSchema`, a `CopyFailure`, and a `StoreFault`.
    package func copy(toFileAt path: String, _ descriptor: CInt, _ terms: CopyTerms) throws -> CopyRecord {
        try copy(toFileAt: path, descriptor, terms, at: CopyPace())
    }

    func copy(
        toFileAt path: String, _ descriptor: CInt, _ terms: CopyTerms, at pace: CopyPace
    ) throws -> CopyRecord {
        do {
            // `VACUUM INTO` reads in one transaction.
            try engine.readers.read { database in
                try pace.during(database) { try database.execute(sql: "VACUUM INTO ?", arguments: [path]) }
            }
        } catch { throw StoreFault(error) }
        let content = try DatabaseContent(ofFileAt: path, at: pace)
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw CopyFailure.system(errno) }
        let record = CopyRecord(
            format: CopyRecord.currentFormat, schema: content.schema, program: terms.program,
            issuer: terms.issuer?.rawValue, endings: content.endings.identity, ending: content.endings.last,
            isInJournal: terms.isInJournal, takenAt: terms.takenAt, length: Int64(status.st_size), rows: content.rows)
        try record.append(to: descriptor, at: pace)
        guard fsync(descriptor) == 0 else { throw CopyFailure.system(errno) }
        return record
    }

    /// Checks the database of a copy: its structure, its references, and that it has what the record says.
    ///
    /// - Parameter path: The path of the database without its record.
    package static func check(databaseAt path: String, against record: CopyRecord) throws(CopyRefusal) {
        guard record.schema <= Migration.all.count else {
            throw .newerSchema(record.schema, supported: Migration.all.count, program: record.program)
        }
        let content: DatabaseContent
        do {
            content = try DatabaseContent(ofFileAt: path, checkingIntegrity: true)
        } catch let refusal as CopyRefusal {
            throw refusal
        } catch let error as DatabaseError {
            throw .damaged(error.withoutValues)
        } catch {
            throw .damaged("unexpected failure: \(type(of: error))")
        }
        guard content.schema == record.schema else { throw .damaged("its schema version is not that of its record") }
        guard content.rows == record.rows else { throw .damaged("its rows are not those of its record") }
    }
}

/// The content of a database file, as far as the record of a copy describes it.
private struct DatabaseContent {
    let schema: Int
    let rows: [String: Int]
    let endings: EndingsPosition

    init(ofFileAt path: String, checkingIntegrity isChecked: Bool = false, at pace: CopyPace? = nil) throws {
        var configuration = Configuration()
        configuration.readonly = true
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        defer { try? queue.close() }
        (schema, rows, endings) = try queue.unsafeRead { database in
            try database.execute(sql: "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON")
            let applicationID = try Int64.fetchOne(database, sql: "PRAGMA application_id")
            guard applicationID == SQLiteStore.applicationID else { throw CopyRefusal.otherProgram }
            try Self.checkSchema(of: database)
            if isChecked {
                let faults = try String.fetchAll(database, sql: "PRAGMA integrity_check(1)")
                guard faults == ["ok"] else { throw CopyRefusal.damaged("the integrity check of SQLite failed") }
                guard try GRDB.Row.fetchOne(database, sql: "PRAGMA foreign_key_check") == nil else {
                    throw CopyRefusal.damaged("a row refers to one that is missing")
                }
            }
            let names = try String.fetchAll(
                database,
                sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'")
            var rows: [String: Int] = [:]
            for name in names {
                // A copy by someone else can have any name.
                let quoted = name.replacingOccurrences(of: "\"", with: "\"\"")
                func count() throws -> Int? {
                    try Int.fetchOne(database, sql: "SELECT count(*) FROM \"\(quoted)\"")
                }
                rows[name] = try pace?.during(database, count) ?? count()
            }
            let endings = try database.connection.endingsPosition()
            return (try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0, rows, endings)
        }
    }

    /// Throws unless a database has exactly the tables, indexes and triggers of its version.
    ///
    /// Others would run inside of the server: a trigger, a view, or an expression in an index.
    private static func checkSchema(of database: Database) throws {
        let version = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
        guard (1...Migration.all.count).contains(version) else {
            throw CopyRefusal.damaged("its schema version is not that of its record")
        }
        var configuration = Configuration()
        // Steps replace tables that others reference.
        configuration.foreignKeysEnabled = false
        let model = try DatabaseQueue(configuration: configuration)
        defer { try? model.close() }
        let expected = try model.write { model in
            for migration in Migration.all.prefix(version) { try migration.apply(model) }
            return try Self.schema(of: model)
        }
        let differences = try Self.schema(of: database).symmetricDifference(expected)
        guard differences.isEmpty else { throw CopyRefusal.otherSchema(Set(differences.map(\.name)).sorted()) }
    }

    /// A table, index, view or trigger, with the statement that made it.
    private struct SchemaPart: Hashable {
        let type: String
        let name: String
        let table: String
        let statement: String
    }

    /// The tables that SQLite creates for itself, with their statements.
    private static let tablesOfSQLite: Set<String> = [
        "CREATE TABLE sqlite_sequence(name,seq)", "CREATE TABLE sqlite_stat1(tbl,idx,stat)",
        "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)",
    ]

    /// The parts of a database, without differences between versions of SQLite in how it keeps the statements.
    ///
    /// A name that begins with `sqlite_` proves nothing: with `writable_schema`, a trigger can have one, too. Only the
    /// tables that SQLite creates for itself are left out, and the indexes without a statement, which belong to the
    /// constraints in the statement of their table.
    private static func schema(of database: Database) throws -> Set<SchemaPart> {
        let rows = try GRDB.Row.fetchAll(
            database,
            sql: "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE type <> 'index' OR sql IS NOT NULL")
        return Set(
            rows.compactMap { row in
                let (type, sql): (String, String) = (row["type"] ?? "", row["sql"] ?? "")
                guard type != "table" || !tablesOfSQLite.contains(sql) else { return nil }
                let words = sql.replacing("\"", with: "").split(whereSeparator: \.isWhitespace).joined(separator: " ")
                return SchemaPart(
                    type: type, name: row["name"] ?? "", table: row["tbl_name"] ?? "", statement: words)
            })
    }
}
