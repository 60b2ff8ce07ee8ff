import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Dispatch
import Foundation
import GRDB
import TestSupport
import Testing

@testable import CounterfoilSQLite

@Suite("SQLite: durability")
struct DurabilityTests {
    @Test func `every commit is synced: the journal is a write-ahead log and synchronous is FULL`() async throws {
        let directory = try TemporaryDirectory()
        let store = try SQLiteStore(at: directory.path("store.sqlite"))
        try await store.engine.pool.writeWithoutTransaction { (database: Database) throws in
            #expect(try Int.fetchOne(database, sql: "PRAGMA synchronous") == 2)
            #expect(try String.fetchOne(database, sql: "PRAGMA journal_mode") == "wal")
            #expect(try Bool.fetchOne(database, sql: "PRAGMA foreign_keys") == true)
            #expect(try Bool.fetchOne(database, sql: "PRAGMA trusted_schema") == false)
            #expect(try Int.fetchOne(database, sql: "PRAGMA secure_delete") == 1)
        }
        await store.close()
    }

    @Test func `reopening keeps all records`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("store.sqlite")
        var store = try SQLiteStore(at: path)
        let world = try await World(in: store)
        let grant = world.grant()
        let code = try await world.approve(grant)
        let session = Session.example(of: world.user)
        #expect(try await store.beginSession(session, proving: .example, replacing: nil) == .begun(session.id))
        await store.close()
        #expect(try directory.contents().keys.sorted() == ["store.sqlite"])

        store = try SQLiteStore(at: path, createIfMissing: false)
        #expect(try await store.scopes().count == ScopeDefinition.standard.count)
        #expect(try await store.clients() == [world.client])
        let facts = CodeFacts(code: code, grant: grant, user: world.user)
        #expect(try await store.code(code.digest) == facts)
        #expect(try await store.session(session.digest)?.session == session)
        await store.close()
    }

    // RFC 7636 §4.4: the challenge and its method are stored with the code.
    @Test func `the method is stored with the challenge, and one without the other is refused`() async throws {
        let directory = try TemporaryDirectory()
        let store = try SQLiteStore(at: directory.path("store.sqlite"))
        let world = try await World(in: store)
        let code = try await world.approve(world.grant())
        try await store.engine.pool.writeWithoutTransaction { (database: Database) throws in
            let row = try Row.fetchOne(database, sql: "SELECT code_challenge, code_challenge_method FROM codes")
            #expect(row == ["code_challenge": code.codeChallenge?.rawValue, "code_challenge_method": "S256"])
            for change in ["code_challenge_method = 'plain'", "code_challenge_method = NULL", "code_challenge = NULL"] {
                #expect(throws: DatabaseError.self) { try database.execute(sql: "UPDATE codes SET \(change)") }
            }
        }
        await store.close()
    }

    @Test func `the files contain neither codes nor sessions nor their secrets`() async throws {
        let directory = try TemporaryDirectory()
        let store = try SQLiteStore(at: directory.path("store.sqlite"))
        let world = try await World(in: store)
        let (code, token) = (AuthorizationCode(), SessionToken())
        try await world.approve(world.grant(), code: code)
        let session = Session.example(of: world.user, token: token)
        #expect(try await store.beginSession(session, proving: .example, replacing: nil) == .begun(session.id))
        for secret in [code.exposed, token.exposed] {
            for (_, bytes) in try directory.contents() { #expect(bytes.range(of: Data(secret.utf8)) == nil) }
        }
        await store.close()
    }

    @Test func `the WAL does not grow without limit`() async throws {
        let directory = try TemporaryDirectory()
        let store = try SQLiteStore(at: directory.path("store.sqlite"))
        let world = try await World(in: store)
        for _ in 0..<10 {
            let counts = try await outcomes(of: 300) { _ in
                let grant = world.grant()
                return try await store.recordConsent(world.approval(grant, .example(for: grant)))
            }
            #expect(counts == [.recorded: 300])
        }
        let log = try #require(try directory.contents()["store.sqlite-wal"])
        #expect(log.count < CommitQueue.logSizeLimit)
        await store.close()
    }

    @Test(.timeLimit(.minutes(1)))
    func `commits continue while a long read keeps the WAL from being truncated`() async throws {
        let directory = try TemporaryDirectory()
        // A checkpoint that waits for the read as long as for another writer takes longer than this test.
        let store = try SQLiteStore(at: directory.path("store.sqlite"), busyTimeout: .seconds(90))
        let readers = store.engine.readers
        let isOver = DispatchSemaphore(value: 0)
        let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
        DispatchQueue.global().async {
            try? readers.read { database in
                try database.execute(sql: "BEGIN")
                _ = try Row.fetchOne(database, sql: "SELECT * FROM registry")
                beginning.yield()
                isOver.wait()
                try database.execute(sql: "COMMIT")
            }
            beginning.finish()
        }
        do {
            defer { isOver.signal() }
            var events = begun.makeAsyncIterator()
            try #require(await events.next() != nil)
            try await store.engine.commit { connection in
                try connection.send("CREATE TABLE filler (content BLOB)")
                try connection.send("INSERT INTO filler VALUES (zeroblob(?1))", 5 * CommitQueue.logSizeLimit)
            }
            for number in 0..<600 {
                try await store.engine.commit { try $0.send("UPDATE filler SET content = ?1", number) }
            }
        }
        await store.close()
    }

    @Test func `a closed store refuses, and no acknowledged commit is lost`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("store.sqlite")
        let store = try SQLiteStore(at: path)
        let world = try await World(in: store)
        let grants = (0..<50).map { _ in world.grant() }
        async let answers = withTaskGroup(of: GrantIdentifier?.self) { group in
            for grant in grants {
                group.addTask {
                    let outcome = try? await store.recordConsent(world.approval(grant, .example(for: grant)))
                    return outcome == .recorded ? grant.id : nil
                }
            }
            return await group.reduce(into: Set()) { recorded, id in if let id { recorded.insert(id) } }
        }
        await store.close()
        let recorded = await answers
        await #expect(throws: StoreFault.self) { try await store.addScope(ScopeDefinition.standard[0]) }
        await #expect(throws: StoreFault.self) { try await store.grant(grants[0].id) }

        let reopened = try SQLiteStore(at: path)
        for grant in grants {
            let isKept = try await reopened.grant(grant.id) != nil
            #expect(isKept == recorded.contains(grant.id))
        }
        await reopened.close()
    }
}
