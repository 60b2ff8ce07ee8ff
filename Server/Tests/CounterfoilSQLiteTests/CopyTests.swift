import CounterfoilSQL
import CounterfoilServer
import CounterfoilStore
import Foundation
import GRDB
import TestSupport
import Testing

@testable import CounterfoilSQLite

/// The content of copies of a database, and the files in which copies and restores are made.
struct CopyTests {
    /// Makes a copy, runs a statement on it, and checks it; the record is that of the copy.
    private static func check(after statement: String?) async throws {
        try await check { path in
            guard let statement else { return }
            let copy = try SQLiteStore(at: path)
            do {
                try await copy.database.engine.commit { try $0.send(statement) }
            } catch {
                await copy.close()
                throw error
            }
            await copy.close()
        }
    }

    /// Copies a database, changes the database at its path, and checks it; the record is that of the copy.
    private static func check(changing change: (_ path: String) async throws -> Void) async throws {
        let directory = try TemporaryDirectory()
        let store = try SQLiteStore(at: directory.path("store.sqlite"))
        let draft = try DraftFile(at: directory.path("copy"))
        defer { draft.close() }
        let record: CopyRecord
        do {
            record = try store.copy(
                toFileAt: draft.path, draft.descriptor,
                SQLiteStore.CopyTerms(issuer: nil, program: "test", isInJournal: false, takenAt: 1))
        } catch {
            await store.close()
            throw error
        }
        await store.close()
        #expect(try CopyRecord(ofCopyOn: draft.descriptor) == record)
        try #require(ftruncate(draft.descriptor, off_t(record.length)) == 0)
        try await change(draft.path)
        try SQLiteStore.check(databaseAt: draft.path, against: record)
    }

    @Test func `the database of a copy has the tables and triggers of its version, and no others`() async throws {
        try await Self.check(after: nil)
        for (statement, name) in [
            ("CREATE TRIGGER evil AFTER INSERT ON sessions BEGIN DELETE FROM audit; END", "evil"),
            ("CREATE VIEW \"a \"\"b\" AS SELECT 1", "a \"b"), ("CREATE TABLE \"a \"\"b\" (id INTEGER)", "a \"b"),
            ("DROP TRIGGER sessions_deletion_ends_session", "sessions_deletion_ends_session"),
        ] {
            await #expect(throws: CopyRefusal.otherSchema([name])) { try await Self.check(after: statement) }
        }
        #expect(
            CopyRefusal.otherSchema(["a \"\u{1B}b", "_litestream_seq"]).description
                == "its tables or triggers are not those of its version: a???b, _litestream_seq")
    }

    // SQLite reserves the names that begin with `sqlite_`, but only for those who ask it.
    @Test(arguments: [
        ("trigger", "CREATE TRIGGER evil AFTER INSERT ON sessions BEGIN DELETE FROM audit; END"),
        ("view", "CREATE VIEW evil AS SELECT 1"), ("index", "CREATE INDEX evil ON sessions (expires_at)"),
        ("table", "CREATE TABLE evil (id INTEGER)"),
    ])
    func `a restore finds a part of the schema whose name begins with sqlite_`(
        type: String, statement: String
    ) async throws {
        let rename = """
            PRAGMA writable_schema = ON;
            UPDATE sqlite_master SET name = 'sqlite_evil', sql = replace(sql, 'evil', 'sqlite_evil')
                WHERE name = 'evil' AND type = '\(type)';
            UPDATE sqlite_master SET tbl_name = name WHERE name = 'sqlite_evil' AND tbl_name = 'evil';
            """
        await #expect(throws: CopyRefusal.otherSchema(["sqlite_evil"])) {
            try await Self.check { path in
                let database = try DatabaseQueue(path: path)
                defer { try? database.close() }
                try await database.write { try $0.execute(sql: statement + ";" + rename) }
            }
        }
    }

    @Test func `the statistics that SQLite keeps are no part of the schema`() async throws {
        await #expect(throws: Never.self) {
            try await Self.check { path in
                let database = try DatabaseQueue(path: path)
                defer { try? database.close() }
                try await database.write { try $0.execute(sql: "ANALYZE") }
            }
        }
    }

    @Test func `a database to which another program has added a table is not copied`() async throws {
        let directory = try TemporaryDirectory()
        let store = try SQLiteStore(at: directory.path("store.sqlite"))
        let draft = try DraftFile(at: directory.path("copy"))
        defer { draft.close() }
        let terms = SQLiteStore.CopyTerms(issuer: nil, program: "test", isInJournal: false, takenAt: 1)
        do {
            try await store.database.engine.commit { try $0.send("CREATE TABLE _litestream_seq (id INTEGER)") }
            #expect(throws: CopyRefusal.otherSchema(["_litestream_seq"])) {
                try store.copy(toFileAt: draft.path, draft.descriptor, terms)
            }
        } catch {
            await store.close()
            throw error
        }
        await store.close()
    }

    @Test func `a length in a record that no file can have is refused`() async throws {
        let directory = try TemporaryDirectory()
        let database = Data("SQLite format 3\0".utf8) + Data(repeating: 0, count: 496)
        try database.write(to: directory.file("copy"))
        let file = open(directory.path("copy"), O_RDWR | O_CLOEXEC)
        try #require(file >= 0)
        defer { close(file) }
        for length in [Int64.max, -1] {
            let record = CopyRecord(
                format: CopyRecord.currentFormat, schema: 1, program: "test", issuer: nil, endings: "", ending: 0,
                isInJournal: false, takenAt: 1, length: length, rows: [:])
            try #require(ftruncate(file, off_t(database.count)) == 0)
            try record.append(to: file, after: Int64(database.count))
            #expect(throws: CopyRefusal.changed) { try CopyRecord(ofCopyOn: file) }
        }
    }

    @Test func `a copy of a newer format or schema is refused with the version that can read it`() throws {
        let directory = try TemporaryDirectory()
        let database = Data("SQLite format 3\0".utf8) + Data(repeating: 0, count: 496)
        func record(format: Int = CopyRecord.currentFormat, schema: Int = Migration.all.count) throws -> CopyRecord {
            let path = directory.path("copy-\(format)-\(schema)")
            try database.write(to: URL(fileURLWithPath: path))
            let file = open(path, O_RDWR | O_CLOEXEC)
            try #require(file >= 0)
            defer { close(file) }
            let record = CopyRecord(
                format: format, schema: schema, program: "9.1.0", issuer: nil, endings: "", ending: 0,
                isInJournal: false, takenAt: 1, length: Int64(database.count), rows: [:])
            try record.append(to: file)
            return try CopyRecord(ofCopyOn: file)
        }
        let (format, schema) = (CopyRecord.currentFormat + 1, Migration.all.count + 1)
        let newerFormat = CopyRefusal.newerFormat(format, program: "9.1.0")
        #expect(throws: newerFormat) { try record(format: format) }
        #expect(
            newerFormat.description
                == "a newer version of this program has made it (format \(format)); use version 9.1.0 or a later one")
        let newer = try record(schema: schema)
        let newerSchema = CopyRefusal.newerSchema(schema, supported: Migration.all.count, program: "9.1.0")
        #expect(throws: newerSchema) {
            let path = directory.path("copy-\(CopyRecord.currentFormat)-\(schema)")
            try SQLiteStore.check(databaseAt: path, against: newer)
        }
        #expect(newerSchema.description.contains("(schema version \(schema); this version supports"))
        #expect(throws: Never.self) { try record() }
    }

    @Test func `a copy from before the first release is refused`() throws {
        let directory = try TemporaryDirectory()
        var database = Data("SQLite format 3\0".utf8) + Data(repeating: 0, count: 496)
        withUnsafeBytes(of: UInt32(SQLiteStore.unreleasedApplicationID).bigEndian) {
            database.replaceSubrange(68..<72, with: $0)
        }
        let path = directory.path("copy")
        try database.write(to: URL(fileURLWithPath: path))
        let file = open(path, O_RDWR | O_CLOEXEC)
        try #require(file >= 0)
        defer { close(file) }
        #expect(throws: CopyRefusal.unreleasedVersion) { try CopyRecord(ofCopyOn: file) }
        let record = CopyRecord(
            format: CopyRecord.currentFormat, schema: 20, program: "0.1.0", issuer: nil, endings: "", ending: 0,
            isInJournal: false, takenAt: 1, length: Int64(database.count), rows: [:])
        try record.append(to: file)
        #expect(throws: CopyRefusal.unreleasedVersion) { try CopyRecord(ofCopyOn: file) }
        #expect("\(CopyRefusal.unreleasedVersion)".contains("no version can restore"))
    }

    @Test func `a draft never empties a file that has another name`() throws {
        let directory = try TemporaryDirectory()
        let (victim, path) = (directory.path("victim"), directory.path("draft"))
        try Data("mine".utf8).write(to: URL(fileURLWithPath: victim))
        for plant in [{ link(victim, path) }, { symlink(victim, path) }, { mkfifo(path, 0o600) }] {
            try #require(plant() == 0)
            let draft = try DraftFile(at: path)
            #expect(write(draft.descriptor, "copy", 4) == 4)
            draft.discard()
            draft.close()
            #expect(try String(contentsOfFile: victim, encoding: .utf8) == "mine")
        }
    }
}
