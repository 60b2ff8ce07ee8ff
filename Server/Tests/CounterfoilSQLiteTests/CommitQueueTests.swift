import CounterfoilProtocol
import CounterfoilSQL
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Dispatch
import Foundation
import GRDB
import TestSupport
import Testing

@testable import CounterfoilSQLite

@Suite("SQLite: the commit queue")
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
                    try await store.engine.commits.commit { _ in
                        continuation.resume()
                        gate.wait()
                    }
                }
            }
        }

        /// Unblocks the writer when `count` commits wait.
        func release(whenWaiting count: Int) async {
            while store.engine.commits.pendingCount < count { await Task.yield() }
            gate.signal()
        }
    }

    private static func add(_ name: String) -> @Sendable (SQLConnection) throws -> Int {
        { database in try database.run("INSERT INTO scopes (name, description) VALUES (?, ?)", name, name) }
    }

    /// Adds a row that violates a foreign key only when the transaction is committed.
    private static func addDanglingSession(to database: SQLConnection) throws {
        try database.send("PRAGMA defer_foreign_keys = ON")
        try database.send(
            """
            INSERT INTO sessions (
                digest, id, person_id, authenticated_at, methods, last_seen_at, expires_at, user_agent, source,
                is_persistent
            ) VALUES (zeroblob(32), '', 'per_nobody', 0, 'password', 0, 0, '', '', 0)
            """)
    }

    private static func names(in store: SQLiteStore) async throws -> [String] {
        try await store.scopes().map(\.token.rawValue).filter { $0.hasPrefix("test.") }
    }

    @Test func `a commit that fails in a batch rolls back only its own writes`() async throws {
        let busy = try await BusyStore()
        let commits = busy.store.engine.commits
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

    @Test func `if the transaction cannot be committed, every caller of the batch learns that nothing was written`()
        async throws
    {
        let busy = try await BusyStore()
        let commits = busy.store.engine.commits
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

    // A commit alone in its transaction has no savepoint.
    @Test func `if the transaction of one commit cannot be committed, nothing of it is written`() async throws {
        let directory = try TemporaryDirectory()
        let store = try SQLiteStore(at: directory.path("store.sqlite"))
        for name in ["test.a", "test.b"] {
            let fault = await #expect(throws: StoreFault.self) {
                try await store.engine.commits.commit { database in
                    _ = try Self.add(name)(database)
                    try Self.addDanglingSession(to: database)
                }
            }
            // The constraint is certain, so the caller knows that nothing was committed.
            guard case .damaged = fault else { throw try #require(fault) }
        }
        #expect(try await Self.names(in: store) == [])
        let sessions = try await store.engine.pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM sessions") }
        #expect(sessions == 0)
        #expect(try await store.engine.commits.commit(Self.add("test.c")) == 1)
        #expect(try await Self.names(in: store) == ["test.c"])
        await store.close()
    }

    @Test func `a full queue refuses at once and answers every caller`() async throws {
        let directory = try TemporaryDirectory()
        let store = try SQLiteStore(at: directory.path("store.sqlite"))
        let commits = CommitQueue(store.engine.pool, pendingLimit: 1)
        let gate = DispatchSemaphore(value: 0)
        async let blocking: Void = commits.commit { _ in gate.wait() }
        while commits.pendingCount > 0 || !commits.isWriting { await Task.yield() }
        async let waiting = commits.commit(Self.add("test.a"))
        while commits.pendingCount < 1 { await Task.yield() }
        let fault = await #expect(throws: StoreFault.self) { try await commits.commit(Self.add("test.b")) }
        guard case .unavailable = fault else { throw try #require(fault) }
        gate.signal()
        try await blocking
        #expect(try await waiting == 1)
        #expect(try await Self.names(in: store) == ["test.a"])
        await store.close()
    }

    @Test func `no error text contains a value`() async throws {
        let directory = try TemporaryDirectory()
        let store = try SQLiteStore(at: directory.path("store.sqlite"))
        let world = try await World(in: store)
        let secret = PasswordHash(encoded: "$argon2id$very-secret")
        var twin = world.user
        twin.passwordHash = secret
        let changed = twin
        let fault = await #expect(throws: StoreFault.self) {
            try await store.engine.commits.commit { database in
                _ = try database.run(
                    """
                    INSERT INTO people
                        (id, username, display_name, display_name_key, password_hash, profile,
                        created_at, changed_at)
                    VALUES (?, 'new', 'n', 'n', ?, '{}', 0, 0)
                    """, changed.id.rawValue, secret.exposed)
            }
        }
        guard case .damaged(let text) = fault else { throw try #require(fault) }
        #expect(text == "SQLite error 2067, UNIQUE constraint failed: people.id")
        await store.close()
    }
}
