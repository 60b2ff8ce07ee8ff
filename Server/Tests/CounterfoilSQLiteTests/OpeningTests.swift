import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import GRDB
import TestSupport
import Testing

@testable import CounterfoilSQLite

@Suite("SQLite: opening")
struct OpeningTests {
    /// The steps of the schema of a newer version.
    private static let steps =
        Migration.all + [Migration { try $0.execute(sql: "ALTER TABLE scopes ADD COLUMN note TEXT") }]

    @Test func `a new store and its directory can be read by their owner only`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("data/deep/store.sqlite")
        let store = try SQLiteStore(at: path)
        #expect(try await store.addScope(ScopeDefinition(token: .init("a") ?? .openID, description: "A")) == .added)
        func mode(_ path: String) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        }
        for name in ["", "-wal", "-shm"] { #expect(try mode(path + name) == 0o600) }
        #expect(try mode(directory.path("data/deep")) == 0o700)
        await store.close()
    }

    @Test func `a missing store is not created unless requested`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("data/store.sqlite")
        #expect(throws: SQLiteStore.OpeningRefusal.missing(path: path)) {
            try SQLiteStore(at: path, createIfMissing: false)
        }
        #expect(try directory.contents().isEmpty)
    }

    @Test func `an empty file becomes a store where one may be created`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("store.sqlite")
        try Data().write(to: URL(fileURLWithPath: path))
        #expect(throws: SQLiteStore.OpeningRefusal.missing(path: path)) {
            try SQLiteStore(at: path, createIfMissing: false)
        }
        let store = try SQLiteStore(at: path)
        #expect(try await store.scopes().count == ScopeDefinition.standard.count)
        await store.close()
    }

    @Test(arguments: [
        Data("hello".utf8), Data(repeating: 0x20, count: 10_000), Data("SQLite format 3\0".utf8),
        Data("SQLite format 2\0".utf8) + Data(repeating: 0, count: 4080),
    ])
    func `a file that is not a database is refused unchanged`(_ bytes: Data) throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("store.sqlite")
        try bytes.write(to: URL(fileURLWithPath: path))
        #expect(throws: SQLiteStore.OpeningRefusal.notADatabase(path: path)) { try SQLiteStore(at: path) }
        #expect(try directory.contents() == ["store.sqlite": bytes])
    }

    @Test(arguments: ["DELETE", "WAL"])
    func `the database of another program is refused unchanged`(_ journal: String) throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("store.sqlite")
        try Self.change(path, "PRAGMA journal_mode = \(journal); CREATE TABLE songs (title TEXT)")
        let before = try directory.contents()
        #expect(throws: SQLiteStore.OpeningRefusal.otherApplication(path: path)) { try SQLiteStore(at: path) }
        #expect(try directory.contents() == before)
    }

    @Test func `a database from a newer version is refused unchanged`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("store.sqlite")
        try await SQLiteStore(at: path).close()
        try Self.change(path, "PRAGMA user_version = 99")
        let before = try directory.contents()
        #expect(Array(before.keys) == ["store.sqlite"])
        #expect(throws: SQLiteStore.OpeningRefusal.newerVersion(path: path, found: 99, supported: Migration.all.count))
        {
            try SQLiteStore(at: path)
        }
        #expect(try directory.contents() == before)
    }

    @Test func `a database from an earlier version is refused unchanged unless it may be upgraded`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("store.sqlite")
        try await SQLiteStore(at: path, upgrading: false).close()
        try await SQLiteStore(at: path, upgrading: false).close()
        let before = try directory.contents()
        let (version, newer) = (Migration.all.count, Self.steps.count)
        #expect(throws: SQLiteStore.OpeningRefusal.earlierVersion(path: path, found: version, supported: newer)) {
            try SQLiteStore(at: path, upgrading: false, through: Self.steps)
        }
        #expect(try directory.contents() == before)
        await (try SQLiteStore(at: path, through: Self.steps)).close()
        #expect(throws: SQLiteStore.OpeningRefusal.newerVersion(path: path, found: newer, supported: version)) {
            try SQLiteStore(at: path)
        }
    }

    @Test func `a database from before the first release is refused unchanged`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("store.sqlite")
        for version in [1, 20] {
            try Self.change(
                path,
                """
                PRAGMA application_id = \(SQLiteStore.unreleasedApplicationID); PRAGMA user_version = \(version);
                CREATE TABLE IF NOT EXISTS people (id TEXT)
                """)
            let before = try directory.contents()
            let refusal = #expect(throws: SQLiteStore.OpeningRefusal.self) { try SQLiteStore(at: path) }
            #expect(refusal == .unreleasedVersion(path: path))
            #expect(refusal?.description.contains("begin again with an empty data directory") == true)
            #expect(try directory.contents() == before)
        }
    }

    @Test func `a database from an earlier version is copied before its upgrade`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("store.sqlite")
        await (try SQLiteStore(at: path)).close()
        try Self.change(path, "INSERT INTO scopes (name, description) VALUES ('former', 'Former')")
        // What an interrupted attempt has left is replaced.
        try Data("half".utf8).write(to: directory.file("store.sqlite.copying"))
        let store = try SQLiteStore(at: path, through: Self.steps)
        #expect(store.copyOfEarlierVersion == directory.path("store.sqlite.version-1"))
        await store.close()
        #expect(try directory.contents().keys.sorted() == ["store.sqlite", "store.sqlite.version-1"])
        let attributes = try FileManager.default.attributesOfItem(atPath: directory.path("store.sqlite.version-1"))
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        let copy = try DatabaseQueue(path: directory.path("store.sqlite.version-1"))
        let (version, scopes) = try await copy.read { database in
            (
                try Int.fetchOne(database, sql: "PRAGMA user_version"),
                try String.fetchAll(database, sql: "SELECT name FROM scopes WHERE name = 'former'")
            )
        }
        #expect(version == 1)
        #expect(scopes == ["former"])
        try copy.close()
        // A store that needs no upgrade copies nothing.
        let again = try SQLiteStore(at: path, through: Self.steps)
        #expect(again.copyOfEarlierVersion == nil)
        await again.close()
    }

    @Test func `a database that cannot be copied is not upgraded`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("store.sqlite")
        await (try SQLiteStore(at: path)).close()
        // The name of the copy is that of a directory.
        try FileManager.default.createDirectory(
            atPath: directory.path("store.sqlite.version-1/held"), withIntermediateDirectories: true)
        let refusal = #expect(throws: SQLiteStore.OpeningRefusal.self) {
            try SQLiteStore(at: path, through: Self.steps)
        }
        #expect("\(try #require(refusal))".contains("nothing was changed"))
        try FileManager.default.removeItem(atPath: directory.path("store.sqlite.version-1"))
        #expect(try directory.contents().keys.contains("store.sqlite.copying") == false)
        let unchanged = try DatabaseQueue(path: path)
        #expect(try await unchanged.read { try Int.fetchOne($0, sql: "PRAGMA user_version") } == 1)
        try unchanged.close()
        await (try SQLiteStore(at: path, through: Self.steps)).close()
    }

    @Test func `a newer version is detected even if only the WAL contains it`() async throws {
        let (directory, crashed) = (try TemporaryDirectory(), try TemporaryDirectory())
        let store = try SQLiteStore(at: directory.path("store.sqlite"))
        try Self.change(store.path, "PRAGMA user_version = 99")
        for name in ["store.sqlite", "store.sqlite-wal"] {
            try FileManager.default.copyItem(atPath: directory.path(name), toPath: crashed.path(name))
        }
        await store.close()
        let (path, before) = (crashed.path("store.sqlite"), try crashed.contents())
        #expect(throws: SQLiteStore.OpeningRefusal.newerVersion(path: path, found: 99, supported: Migration.all.count))
        {
            try SQLiteStore(at: path)
        }
        // SQLite creates the WAL index again when it opens the file, so only the index may differ.
        let after = try crashed.contents().filter { !$0.key.hasSuffix("-shm") }
        #expect(after == before)
    }

    @Test func `several processes that start at once on an empty directory get the same store`()
        async throws
    {
        let directory = try TemporaryDirectory()
        let path = directory.path("data/store.sqlite")
        let counts = try await outcomes(of: 8) { number in
            let store = try SQLiteStore(at: path)
            let outcome = try await store.addFirstOwner(.named("admin\(number)"))
            await store.close()
            return outcome
        }
        #expect(counts == [.added: 1, .ownerExists: 7])
    }

    @Test func `an invalid path is refused with advice`() throws {
        let directory = try TemporaryDirectory()
        try Data("file".utf8).write(to: directory.url.appendingPathComponent("file"))
        let parent = directory.path("file")
        let refusal = #expect(throws: SQLiteStore.OpeningRefusal.self) { try SQLiteStore(at: parent + "/store.sqlite") }
        #expect(refusal == .directoryNotUsable(path: parent, reason: "it cannot be created"))
        #expect(refusal?.description.contains("choose another one") == true)
        #expect(throws: SQLiteStore.OpeningRefusal.fileNotUsable(path: directory.url.path, reason: "it is a directory"))
        {
            try SQLiteStore(at: directory.url.path)
        }
    }

    @Test func `a file that another process keeps locked is refused after the timeout`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("store.sqlite")
        try Data().write(to: URL(fileURLWithPath: path))
        try DatabaseQueue(path: path).inDatabase { database in
            try database.execute(sql: "BEGIN EXCLUSIVE")
            #expect(throws: SQLiteStore.OpeningRefusal.locked(path: path)) {
                try SQLiteStore(at: path, busyTimeout: .milliseconds(20))
            }
            try database.execute(sql: "ROLLBACK")
        }
    }

    @Test func `a damaged database is refused`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("store.sqlite")
        try await SQLiteStore(at: path).close()
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        bytes.replaceSubrange(100..<4096, with: Data(repeating: 0xFF, count: 3996))
        try bytes.write(to: URL(fileURLWithPath: path))
        let refusal = #expect(throws: SQLiteStore.OpeningRefusal.self) { try SQLiteStore(at: path) }
        guard case .damaged = refusal else {
            Issue.record("\(String(describing: refusal))")
            return
        }
    }

    /// Writes to a database as another program does.
    private static func change(_ path: String, _ sql: String) throws {
        let database = try DatabaseQueue(path: path)
        try database.writeWithoutTransaction { try $0.execute(sql: sql) }
        try database.close()
    }
}
