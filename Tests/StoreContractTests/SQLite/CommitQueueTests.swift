import CounterfoilProtocol
import CounterfoilServer
import Dispatch
import Foundation
import GRDB
import Testing

@testable import CounterfoilSQLite

@Suite("SQLite: commits that wait are written together")
struct CommitQueueTests {
    /// The error of failing commits.
    private struct Failure: Error {}

    /// A store whose writer is blocked until it is released, so that pending commits form one batch.
    private struct BusyStore {
        let directory = try? TemporaryDirectory()
        let store: SQLiteStore
        private let gate = DispatchSemaphore(value: 0)

        init() async throws {
            store = try SQLiteStore(at: try #require(directory).path("store.sqlite"))
            await withCheckedContinuation { continuation in
                Task { [store, gate] in
                    try await store.commits.commit { _ in
                        continuation.resume()
                        gate.wait()
                    }
                }
            }
        }

        /// Unblocks the writer when `count` commits wait.
        func release(whenWaiting count: Int) async {
            while store.commits.waitingCount < count { await Task.yield() }
            gate.signal()
        }
    }

    private static func add(_ name: String) -> @Sendable (Database) throws -> Int {
        { database in try database.run("INSERT INTO scopes (name, description) VALUES (?, ?)", name, name) }
    }

    /// Adds a row that violates a foreign key only when the transaction is committed.
    private static func addDanglingSession(to database: Database) throws {
        try database.execute(
            sql: """
                PRAGMA defer_foreign_keys = ON;
                INSERT INTO sessions (digest, id, person_id, authenticated_at, last_seen_at, expires_at, user_agent, source)
                VALUES (zeroblob(32), '', 'per_nobody', 0, 0, 0, '', '');
                """
        )
    }

    private static func names(in store: SQLiteStore) async throws -> [String] {
        try await store.scopes().map(\.token.rawValue).filter { $0.hasPrefix("test.") }
    }

    @Test func `of a batch a commit that fails takes only its own writes back`() async throws {
        let busy = try await BusyStore()
        let commits = busy.store.commits
        let first = Task { try await commits.commit(Self.add("test.a")) }
        let failing = Task {
            try await commits.commit { database in
                _ = try Self.add("test.b")(database)
                throw Failure()
            }
        }
        let colliding = Task { try await commits.commit(Self.add("openid")) }
        let last = Task { try await commits.commit(Self.add("test.c")) }
        await busy.release(whenWaiting: 4)
        #expect(try await first.value == 1)
        #expect(try await last.value == 1)
        await #expect(throws: StoreFault.self) { try await failing.value }
        await #expect(throws: StoreFault.self) { try await colliding.value }
        #expect(try await Self.names(in: busy.store) == ["test.a", "test.c"])
        await busy.store.close()
    }

    @Test func `when the transaction cannot be committed everyone in the batch learns that nothing was written`()
        async throws
    {
        let busy = try await BusyStore()
        let commits = busy.store.commits
        let first = Task { try await commits.commit(Self.add("test.a")) }
        let dangling = Task {
            try await commits.commit { database in try Self.addDanglingSession(to: database) }
        }
        await busy.release(whenWaiting: 2)
        await #expect(throws: StoreFault.self) { try await first.value }
        await #expect(throws: StoreFault.self) { try await dangling.value }
        #expect(try await Self.names(in: busy.store) == [])
        #expect(try await commits.commit(Self.add("test.b")) == 1)
        await busy.store.close()
    }

    @Test func `a queue that is full refuses at once and forgets nobody`() async throws {
        let directory = try TemporaryDirectory()
        let store = try SQLiteStore(at: directory.path("store.sqlite"))
        let commits = CommitQueue(store.pool, waitingLimit: 1)
        let gate = DispatchSemaphore(value: 0)
        async let blocking: Void = commits.commit { _ in gate.wait() }
        while commits.waitingCount > 0 || !commits.isTaken { await Task.yield() }
        async let waiting = commits.commit(Self.add("test.a"))
        while commits.waitingCount < 1 { await Task.yield() }
        let fault = await #expect(throws: StoreFault.self) { try await commits.commit(Self.add("test.b")) }
        guard case .unavailable = fault else { throw try #require(fault) }
        gate.signal()
        try await blocking
        #expect(try await waiting == 1)
        #expect(try await Self.names(in: store) == ["test.a"])
        await store.close()
    }

    @Test func `a commit that comes while the connection of the writer is read is written after that`() async throws {
        let directory = try TemporaryDirectory()
        let store = try SQLiteStore(at: directory.path("store.sqlite"))
        let commits = store.commits
        let gate = DispatchSemaphore(value: 0)
        async let committed = {
            while !commits.isTaken { await Task.yield() }
            async let added = commits.commit(Self.add("test.a"))
            while commits.waitingCount < 1 { await Task.yield() }
            gate.signal()
            return try await added
        }()
        // The read blocks its thread, so it gets one of its own.
        let names = try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(
                    with: Result {
                        try commits.readWhenIdle { database in
                            gate.wait()
                            return try database.all("SELECT name FROM scopes WHERE name = 'test.a'") { columns in
                                try columns.text()
                            }
                        }
                    })
            }
        }
        #expect(names == [])
        #expect(try await committed == 1)
        #expect(try await Self.names(in: store) == ["test.a"])
        await store.close()
        #expect(commits.readWhenIdle { _ in 1 } == nil)
    }

    // MARK: - Inline commits

    /// Runs `body` with a queue on a new store in which every caller may commit inline, and with a thread
    /// for the calls.
    private static func lonely(
        quick: Duration = .seconds(60), _ body: (SQLiteStore, CommitQueue, OneThread) async throws -> Void
    ) async throws {
        let directory = try TemporaryDirectory()
        let store = try SQLiteStore(at: directory.path("store.sqlite"))
        let commits = CommitQueue(store.pool, quick: quick, isCallerAlone: { true })
        let thread = OneThread()
        // The first commit measures the latency of the disk.
        _ = try await commits.commit(writing: .few, Self.add("test.first"))
        try await body(store, commits, thread)
        thread.stop()
        await commits.finish()
        await store.close()
    }

    /// Writes a scope, and returns whether the commit ran on the thread of the caller.
    private static func writesInPlace(
        _ name: String, _ extent: CommitQueue.Extent = .few, to commits: CommitQueue, on thread: OneThread
    ) async throws -> Bool {
        // The writer responds before it releases the connection.
        while commits.isTaken { await Task.yield() }
        return try await Task(executorPreference: thread) {
            try await commits.commit(writing: extent) { database in
                _ = try Self.add(name)(database)
                return thread.isCurrent
            }
        }.value
    }

    @Test func `who is alone writes on the thread where it is`() async throws {
        try await Self.lonely { store, commits, thread async throws in
            #expect(try await Self.writesInPlace("test.a", to: commits, on: thread))
            #expect(try await Self.names(in: store) == ["test.a", "test.first"])
        }
    }

    @Test func `what may be much is written elsewhere`() async throws {
        try await Self.lonely { store, commits, thread async throws in
            #expect(try await !Self.writesInPlace("test.a", .any, to: commits, on: thread))
            #expect(try await Self.names(in: store) == ["test.a", "test.first"])
        }
    }

    @Test func `nobody stands still for a slow disk`() async throws {
        try await Self.lonely(quick: .zero) { _, commits, thread async throws in
            for number in 0..<3 { #expect(try await !Self.writesInPlace("test.\(number)", to: commits, on: thread)) }
        }
    }

    @Test func `what writes nothing does not show how quick the disk is`() async throws {
        let directory = try TemporaryDirectory()
        let store = try SQLiteStore(at: directory.path("store.sqlite"))
        let commits = CommitQueue(store.pool, quick: .seconds(60), isCallerAlone: { true })
        let thread = OneThread()
        for _ in 0..<3 { _ = try await commits.commit(writing: .few) { _ in 0 } }
        #expect(try await !Self.writesInPlace("test.a", to: commits, on: thread))
        #expect(try await Self.writesInPlace("test.b", to: commits, on: thread))
        thread.stop()
        await store.close()
    }

    @Test func `the writer gets one of many, so that the log is folded there`() async throws {
        try await Self.lonely { _, commits, thread async throws in
            var elsewhere: [Int] = []
            for number in 0..<600 where try await !Self.writesInPlace("test.\(number)", to: commits, on: thread) {
                elsewhere.append(number)
            }
            #expect(elsewhere == [256, 513])
        }
    }

    @Test func `who is alone and fails leaves nothing behind`() async throws {
        try await Self.lonely { store, commits, _ async throws in
            await #expect(throws: StoreFault.self) {
                try await commits.commit(writing: .few) { database in
                    _ = try Self.add("test.a")(database)
                    throw Failure()
                }
            }
            #expect(try await commits.commit(writing: .few, Self.add("test.b")) == 1)
            await #expect(throws: StoreFault.self) { try await commits.commit(writing: .few, Self.add("openid")) }
            #expect(try await commits.commit(writing: .few, Self.add("test.c")) == 1)
            await #expect(throws: StoreFault.self) {
                try await commits.commit(writing: .few) { database in try Self.addDanglingSession(to: database) }
            }
            #expect(try await commits.commit(writing: .few, Self.add("test.d")) == 1)
            #expect(try await Self.names(in: store) == ["test.b", "test.c", "test.d", "test.first"])
        }
    }

    @Test func `who is alone does not stand still for another process`() async throws {
        try await Self.lonely { store, commits, thread async throws in
            let other = try DatabaseQueue(path: store.path)
            // GRDB requires a transaction to end in the access that began it, so this access blocks until
            // the commit waits for it.
            let begun = DispatchSemaphore(value: 0)
            let gate = DispatchSemaphore(value: 0)
            DispatchQueue.global().async {
                try? other.inDatabase { database in
                    try database.execute(sql: "BEGIN IMMEDIATE")
                    begun.signal()
                    gate.wait()
                    try database.execute(sql: "ROLLBACK")
                }
            }
            await withCheckedContinuation { continuation in
                DispatchQueue.global().async {
                    begun.wait()
                    continuation.resume()
                }
            }
            let committed = Task(executorPreference: thread) {
                // This task runs on the thread only if the commit does not block it.
                Task(executorPreference: thread) { gate.signal() }
                return try await commits.commit(writing: .few) { database in
                    _ = try Self.add("test.a")(database)
                    return thread.isCurrent
                }
            }
            #expect(try await !committed.value)
            #expect(try await Self.names(in: store) == ["test.a", "test.first"])
        }
    }

    @Test func `of many who take themselves for alone everyone is answered once`() async throws {
        try await Self.lonely { store, commits, _ async throws in
            let added = try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<200 {
                    group.addTask { try await commits.commit(writing: .few, Self.add("test.\(number)")) }
                }
                return try await group.reduce(0, +)
            }
            #expect(added == 200)
            #expect(try await Self.names(in: store).count == 201)
        }
    }

    @Test func `what is read to be written again is read while the writer is busy, too`() async throws {
        let busy = try await BusyStore()
        let commits = busy.store.commits
        #expect(commits.readWhenIdle { _ in 1 } == nil)
        #expect(try await busy.store.code(ArtefactDigest(of: AuthorizationCode())) == nil)
        await busy.release(whenWaiting: 0)
        await busy.store.close()
    }

    @Test func `no fault text holds a value`() async throws {
        let directory = try TemporaryDirectory()
        let store = try SQLiteStore(at: directory.path("store.sqlite"))
        let world = try await World(in: store)
        let secret = PasswordHash(encoded: "$argon2id$very-secret")
        var twin = world.person
        twin.passwordHash = secret
        let changed = twin
        let fault = await #expect(throws: StoreFault.self) {
            try await store.commits.commit { database in
                _ = try database.run(
                    """
                    INSERT INTO people
                        (id, username, display_name, password_hash, is_administrator, profile, created_at, changed_at)
                    VALUES (?, 'new', 'n', ?, 0, '{}', 0, 0)
                    """, changed.id.rawValue, secret.exposed)
            }
        }
        guard case .damaged(let text) = fault else { throw try #require(fault) }
        #expect(text == "SQLite error 2067, UNIQUE constraint failed: people.id")
        await store.close()
    }
}
