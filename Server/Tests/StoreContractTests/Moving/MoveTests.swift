import CounterfoilPostgreSQL
@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilSQL
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import PostgreSQLTesting
import TestSupport
import Testing

/// The move of everything in a file to a database.
struct MoveTests {
    /// Fills a store with records of many kinds.
    private static func fill(_ store: any AuthorizationServerStore) async throws -> World {
        let world = try await World(in: store)
        _ = try await world.approve(world.grant())
        _ = try await store.addIdentity(try UserIdentityContractTests.identity("1", of: world.user), recording: [])
        let gone = try await world.adding("bob")
        _ = try await gone.approve(gone.grant())
        _ = try await gone.beginRemoval()
        for number in 0..<1200 {
            try await store.appendAudit(
                AuditEvent(at: World.now + Double(number), .signIn, .refused, detail: "é \(number) \u{1F5DD}"))
        }
        _ = try await store.addClientSecret(.example(of: world.client))
        _ = try await store.noteAssertion(
            ArtefactDigest(ofFamily: [1]), expires: World.now + 60, attempt: CommitAttempt(), now: World.now)
        try await store.recordService(at: World.now, outageAfter: 10)
        let policy = UnregisteredClientPolicy(
            kinds: [.document], maximumScope: Scope([.openID, .email]), accessTokenLifetime: 900)
        _ = try await store.updateUnregisteredClientPolicy(policy)
        try await AuditSealContractTests.seal(store, batch: 1000)
        return world
    }

    private static func contents(of store: any AuthorizationServerStore, _ world: World) async throws -> [String] {
        var contents: [String] = []
        contents.append("\(try await store.users(after: nil, limit: 100))")
        contents.append("\(try await store.clients())")
        contents.append("\(try await store.scopes())")
        contents.append(
            "\(String(describing: try await world.store.consent(of: world.user.id, to: world.client.id)))")
        contents.append("\(try await store.grants(of: world.user.id, after: nil, limit: 100))")
        contents.append("\(try await store.sessions(of: world.user.id))")
        contents.append("\(try await store.identities(of: world.user.id))")
        contents.append("\(try await store.clientSecrets(of: world.client.id))")
        contents.append("\(try await store.auditLog(after: nil, limit: 5000))")
        contents.append("\(try await store.sealedAudit(after: 0, limit: 5000)) \(try await store.auditChainEnds())")
        contents.append("\(try await store.logoutBacklog())")
        contents.append("\(try await store.unregisteredClientPolicy())")
        return contents
    }

    @Test func `a database has everything that the file had, and the file is closed`() async throws {
        try await TestDatabase.with { string in
            let directory = try TemporaryDirectory()
            let file = try SQLiteStore(at: directory.path("store.sqlite"))
            let world = try await Self.fill(file)
            let before = try await Self.contents(of: file, world)
            let progress = Mutex<[MoveProgress]>([])
            let outcome = try await PostgreSQLStore.move(file, into: string, settings: ["issuer": "https://id.example"])
            {
                step in progress.withLock { $0.append(step) }
            }
            guard case .moved(let rows) = outcome else {
                Issue.record("\(outcome)")
                return
            }
            #expect(rows > 1200)
            let steps = progress.withLock { $0 }
            #expect(steps.last?.done == rows && steps.last?.isComparing == true)
            await file.close()

            let store = try await PostgreSQLStore.open(string)
            let moved = World(store, user: world.user, client: world.client, session: world.session)
            #expect(try await Self.contents(of: store, moved) == before)
            #expect(try await store.recordedSettings() == ["issuer": "https://id.example"])
            // New rows are numbered after the old ones, and the triggers work.
            let last = try await store.auditLog(after: nil, limit: 5000).map(\.number).max()
            try await store.appendAudit(AuditEvent(at: World.now + 5000, .signIn))
            let next = try await store.audit(AuditQuery(limit: 1)).first?.number
            #expect(next == last.map { $0 + 1 })
            let revision = try await store.registryRevision()
            _ = try await store.addClient(try .named("app-new"))
            #expect(try await store.registryRevision() != revision)
            while try await store.continueRemovals(atMost: 100) > 0 {}
            _ = try await moved.approve(moved.grant())
            try await AuditSealContractTests.seal(store)
            #expect(try await AuditSealContractTests.verdict(store).findings == [])
            await store.close()

            #expect {
                _ = try SQLiteStore(at: directory.path("store.sqlite"))
            } throws: { error in
                "\(error)".contains("has moved to \(string)")
            }
        }
    }

    @Test func `a move that ended before it closed the file is completed by another one`() async throws {
        try await TestDatabase.with { string in
            let directory = try TemporaryDirectory()
            let file = try SQLiteStore(at: directory.path("store.sqlite"))
            _ = try await Self.fill(file)
            let interrupted = Interrupted(store: file)
            await #expect(throws: Interrupted.Stopped.self) {
                try await PostgreSQLStore.move(interrupted, into: string, settings: [:], reporting: { _ in })
            }
            let outcome = try await PostgreSQLStore.move(file, into: string, settings: [:], reporting: { _ in })
            guard case .wasMoved = outcome else {
                Issue.record("\(outcome)")
                return
            }
            await file.close()
        }
    }

    // A command has opened the file before the move, and waits for its turn.
    @Test func `a process that has the file open cannot write to it after the move`() async throws {
        try await TestDatabase.with { string in
            let directory = try TemporaryDirectory()
            let file = try SQLiteStore(at: directory.path("store.sqlite"))
            let other = try SQLiteStore(at: directory.path("store.sqlite"), createIfMissing: false)
            let world = try await Self.fill(file)
            #expect(try await other.user(world.user.id) != nil)
            _ = try await PostgreSQLStore.move(file, into: string, settings: [:], reporting: { _ in })
            await #expect(throws: StoreFault.self) { try await other.addUser(try .named("mallory")) }
            await #expect(throws: StoreFault.self) {
                try await other.endSession(world.session.digest, at: World.now)
            }
            await other.close()
            await file.close()
        }
    }

    @Test func `of two moves into one database at the same time, one succeeds`() async throws {
        try await TestDatabase.with { string in
            let directory = try TemporaryDirectory()
            var files: [SQLiteStore] = []
            for number in 0..<2 {
                let file = try SQLiteStore(at: directory.path("store\(number).sqlite"))
                _ = try await Self.fill(file)
                #expect(try await file.addUser(try .named("user\(number)")) == .added)
                files.append(file)
            }
            let both = files
            let succeeded = try await outcomes(of: 2) { number in
                do {
                    _ = try await PostgreSQLStore.move(both[number], into: string, settings: [:], reporting: { _ in })
                    return number
                } catch { return -1 }
            }
            #expect(succeeded[-1] == 1)
            let winner = try #require(succeeded.keys.first { $0 >= 0 })
            let store = try await PostgreSQLStore.open(string)
            let users = try await store.users(after: nil, limit: 9).map(\.username.rawValue)
            #expect(users.contains("user\(winner)"))
            #expect(try await files[1 - winner].addUser(try .named("still.here")) == .added)
            await store.close()
            for file in files { await file.close() }
        }
    }

    @Test func `other tables in the schema are no obstacle`() async throws {
        let server = try await PostgreSQLServer.shared.value
        let name = "beside_" + UUID().uuidString.filter(\.isHexDigit).lowercased()
        try server.sql("CREATE DATABASE \(name)")
        try server.sql("CREATE TABLE notes (text text)", "INSERT INTO notes VALUES ('x')", database: name)
        let string = try server.uri(database: name)
        try await PostgreSQLStore.migrate(string)
        let directory = try TemporaryDirectory()
        let file = try SQLiteStore(at: directory.path("store.sqlite"))
        _ = try await Self.fill(file)
        let outcome = try await PostgreSQLStore.move(file, into: string, settings: [:], reporting: { _ in })
        guard case .moved = outcome else {
            Issue.record("\(outcome)")
            return
        }
        await file.close()
        #expect(try server.sql("SELECT text FROM notes", database: name) == ["x"])
    }

    @Test func `nothing moves into a database with other content`() async throws {
        try await TestDatabase.with { string in
            let directory = try TemporaryDirectory()
            let file = try SQLiteStore(at: directory.path("store.sqlite"))
            let world = try await Self.fill(file)
            let store = try await PostgreSQLStore.open(string)
            #expect(try await store.addUser(try .named("carol")) == .added)
            await #expect(throws: MoveRefusal.notEmpty(database: "\(string)", table: "activity_counts")) {
                try await PostgreSQLStore.move(file, into: string, settings: [:], reporting: { _ in })
            }
            #expect(try await store.users(after: nil, limit: 10).count == 1)
            #expect(try await file.user(world.user.id) != nil)
            #expect(try await file.addUser(try .named("dora")) == .added)
            await store.close()
            await file.close()
        }
    }

    /// A store whose process ends after the copy, and before the store is closed.
    private struct Interrupted: MovableStore {
        struct Stopped: Error {}

        let store: SQLiteStore

        func withExclusiveRead<Result>(to target: String, _ copy: (any TableReader) throws -> Result) throws -> Result {
            try store.withExclusiveRead(to: target) { tables in
                _ = try copy(tables)
                throw Stopped()
            }
        }
    }
}
