import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import GRDB
import TestSupport
import Testing

@testable import CounterfoilSQLite

@Suite("SQLite: a full disk and a locked file")
struct FailureTests {
    @Test func `a full disk refuses, writes nothing partially, and recovers`() async throws {
        let directory = try TemporaryDirectory()
        let store = try SQLiteStore(at: directory.path("store.sqlite"))
        let world = try await World(in: store)
        try await store.engine.pool.writeWithoutTransaction { (database: Database) throws in
            let pages = try Int.fetchOne(database, sql: "PRAGMA page_count") ?? 0
            try database.execute(sql: "PRAGMA max_page_count = \(pages + 2)")
        }
        var recorded: [CodeRecord] = []
        var refused: (grant: Grant, code: CodeRecord)?
        while refused == nil, recorded.count < 1000 {
            let grant = world.grant()
            let code = try CodeRecord.example(for: grant)
            do throws(StoreFault) {
                let outcome = try await store.recordConsent(world.approval(grant, code))
                #expect(outcome == .recorded)
                recorded.append(code)
            } catch {
                guard case .unavailable = error else { throw error }
                refused = (grant, code)
            }
        }
        let (grant, code) = try #require(refused)
        #expect(!recorded.isEmpty)
        #expect(try await store.grant(grant.id) == nil)
        #expect(try await store.code(code.digest) == nil)
        for code in recorded { #expect(try await store.code(code.digest)?.code == code) }

        try await store.engine.pool.writeWithoutTransaction { (database: Database) throws in
            try database.execute(sql: "PRAGMA max_page_count = 1000000")
        }
        #expect(try await store.recordConsent(world.approval(grant, code)) == .recorded)
        await store.close()
    }

    @Test func `on a full disk, the store takes a heartbeat and no space`() async throws {
        let directory = try TemporaryDirectory()
        let store = try SQLiteStore(at: directory.path("store.sqlite"))
        func limitPages(to limit: Int) async throws {
            try await store.engine.pool.writeWithoutTransaction { (database: Database) throws in
                let pages = try Int.fetchOne(database, sql: "PRAGMA page_count") ?? 0
                try database.execute(sql: "PRAGMA max_page_count = \(pages + limit)")
            }
        }
        try await limitPages(to: 2)
        try await store.recordService(at: store.now(), outageAfter: 5)
        let fault = await #expect(throws: StoreFault.self) { try await store.takeUpSpace() }
        guard case .unavailable = fault else { throw try #require(fault) }
        try await limitPages(to: 1000)
        try await store.takeUpSpace()
        let logos = try await store.engine.pool.read { database in
            try Int.fetchOne(database, sql: "SELECT count(*) FROM logos")
        }
        #expect(logos == 0)
        await store.close()
    }

    @Test func `a locked database refuses commits, still answers reads, and recovers`() async throws {
        let directory = try TemporaryDirectory()
        let store = try SQLiteStore(at: directory.path("store.sqlite"), busyTimeout: .milliseconds(20))
        let world = try await World(in: store)
        let grant = world.grant()
        let code = try CodeRecord.example(for: grant)
        let other = try DatabaseQueue(path: store.path, configuration: Self.allowingLongTransactions)
        try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        let fault = await #expect(throws: StoreFault.self) {
            try await store.recordConsent(world.approval(grant, code))
        }
        guard case .unavailable = fault else { throw try #require(fault) }
        #expect(try await store.user(world.user.id) == world.user)
        #expect(try await store.grant(grant.id) == nil)
        try await other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
        #expect(try await store.recordConsent(world.approval(grant, code)) == .recorded)
        try other.close()
        await store.close()
    }

    // After a failed sync, the transaction may be complete in the WAL, and be found there after a crash.
    @Test(arguments: [
        (ResultCode.SQLITE_IOERR_FSYNC, true), (.SQLITE_IOERR_WRITE, true), (.SQLITE_FULL, false),
        (.SQLITE_BUSY, false),
    ])
    func `an I/O error of COMMIT leaves the result unknown`(_ code: ResultCode, isUnknown: Bool) {
        let error = DatabaseError(resultCode: code)
        var found = (ofCommit: false, ofStatement: false)
        if case .unconfirmed = StoreFault(ofCommit: error) { found.ofCommit = true }
        if case .unconfirmed = StoreFault(error) { found.ofStatement = true }
        #expect(found == (isUnknown, false))
    }

    @Test func `a row that violates the schema is reported as damaged, without its values`()
        async throws
    {
        let directory = try TemporaryDirectory()
        let store = try SQLiteStore(at: directory.path("store.sqlite"))
        let world = try await World(in: store)
        try await store.engine.pool.writeWithoutTransaction { (database: Database) throws in
            try database.execute(sql: "UPDATE people SET username = 'Not A Name'")
        }
        await #expect(throws: StoreFault.damaged("the column username holds an invalid value")) {
            try await store.user(world.user.id)
        }
        await store.close()
    }

    // A list is not lost because another program has written one of its rows.
    @Test func `a list leaves out a row with an invalid value, and reports it`() async throws {
        try await NewerVersion.run { newer in
            let (store, ada) = (newer.store, newer.ada)
            let second = Session.example(of: ada.user)
            try await ada.begin(second)
            for change in [
                "DELETE FROM client_uses", "UPDATE clients SET id = 'äpp' WHERE id = 'app-lightbox'",
                "UPDATE people SET username = 'Not A Name' WHERE username = 'bob'",
                "UPDATE sessions SET id = 'x' WHERE id = '\(second.id)'",
                "UPDATE scopes SET name = 'two words' WHERE name = 'address'",
                "UPDATE resources SET client_id = 'äpi' WHERE resource LIKE '%//a.%'",
                "DELETE FROM codes WHERE grant_id IN (SELECT id FROM grants WHERE client_id = 'app-other')",
                "UPDATE grants SET id = 'a grant' WHERE client_id = 'app-other'",
            ] { try await newer.write(change) }
            #expect(try await store.clients() == [newer.other])
            #expect(try await store.clients(of: ada.user.id) == [newer.other])
            #expect(try await store.users(after: nil, limit: 9) == [ada.user])
            #expect(try await store.sessions(of: ada.user.id).map(\.id) == [ada.session.id])
            #expect(try await store.scopes().contains { $0.token == .openID })
            #expect(try await store.resources() == [newer.apis[1]])
            #expect(try await store.grants(of: ada.user.id, after: nil, limit: 9).isEmpty)
            let invalid = Set(newer.reported.filter(\.isInvalid).map(\.record))
            #expect(invalid == ["client", "user", "session", "API", "grant"])
            let unreadable = try await store.unreadableRecords(of: ada.user.id)
            #expect(Set(unreadable.compactMap(\.id)).isSuperset(of: ["x", "a grant", "äpp"]))
        }
    }

    @Test func `a logout for an ended session does not wait for the writer`() async throws {
        let directory = try TemporaryDirectory()
        let store = try SQLiteStore(at: directory.path("store.sqlite"), busyTimeout: .milliseconds(20))
        let world = try await World(in: store)
        try await world.approve(world.grant())
        #expect(try await store.endSession(world.session.digest, at: World.now))
        let other = try DatabaseQueue(path: store.path, configuration: Self.allowingLongTransactions)
        try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        for _ in 0..<10 {
            try await store.revokeDependents(ofSession: world.session.id, notSeenSince: World.now, at: World.now)
        }
        try await other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
        await store.close()
    }

    @Test func `a text that SQLite would truncate is refused`() async throws {
        let directory = try TemporaryDirectory()
        let store = try SQLiteStore(at: directory.path("store.sqlite"))
        let scope = ScopeDefinition(token: try #require(Scope.Token("cut")), description: "See\u{0}everything")
        await #expect(throws: StoreFault.self) { try await store.addScope(scope) }
        #expect(try await store.scopes() == ScopeDefinition.standard.sorted { $0.token < $1.token })
        await store.close()
    }

    private static var allowingLongTransactions: Configuration {
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        return configuration
    }
}
