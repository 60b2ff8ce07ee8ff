package import CounterfoilSQL
package import CounterfoilServer
package import Foundation
import GRDB
import GRDBSQLite

/// A store with the tables and operations of ``SQLiteStore`` in memory, for tests.
///
/// Commits go through the queue of a store in a file. One connection reads and writes, so a read waits for the commit
/// before it. The content ends with the store.
package struct EphemeralStore: SQLStore {
    package let database: SQLDatabase
    private let engine: EphemeralEngine
    private let proofs = ProcessProofs()

    /// Creates a store that contains only the standard scopes.
    package init() throws {
        engine = try EphemeralEngine()
        database = SQLDatabase(engine, reporting: UnsupportedValues { _ in })
    }

    package func close() async { await engine.close() }

    package func noteProof(_ proof: UsedProof, at now: Date) async throws(StoreFault) -> NoteProofOutcome {
        await proofs.noteProof(proof, at: now)
    }
}

/// The connection to a database in memory.
private struct EphemeralEngine: SQLEngine {
    private let queue: DatabaseQueue
    private let commits: CommitQueue
    private let clock = FileClock(following: nil, orFrom: nil)

    init() throws {
        queue = try Self.open()
        try Self.template.get().backup(to: queue)
        commits = CommitQueue(queue)
    }

    /// A database with the tables, which is copied because that takes a fraction of the time of creating them.
    private static let template = Result {
        let queue = try open()
        try queue.writeWithoutTransaction { database in try Migration.run(database) }
        return queue
    }

    private static func open() throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA trusted_schema = OFF")
            // GRDB notes each column that a statement uses, for observers of changes. A short-lived connection spends
            // most of its time on that.
            sqlite3_set_authorizer(database.sqliteConnection, nil, nil)
        }
        return try DatabaseQueue(configuration: configuration)
    }

    var kind: StoreMeasurements.Kind { .sqlite }

    var now: Date { clock.now }

    var measurements: StoreMeasurements {
        StoreMeasurements(.sqlite, commits.meter, waiting: commits.pendingCount)
    }

    func read<Value: Sendable>(
        as operation: StaticString, _ queries: @escaping @Sendable (SQLConnection) throws -> Value
    ) async throws(StoreFault) -> Value {
        do { return try readNow(queries) } catch { throw StoreFault(error) }
    }

    /// Runs queries on the caller's thread, as a store in a file does.
    private func readNow<Value>(_ queries: (SQLConnection) throws -> Value) throws -> Value {
        try queue.unsafeRead { database in try queries(database.connection) }
    }

    func commit<Value: Sendable>(
        as operation: StaticString, _ write: @escaping @Sendable (SQLConnection) throws -> Value
    ) async throws(StoreFault) -> Value {
        try await commits.commit(write)
    }

    func noteClock(on connection: SQLConnection) {}

    func takeUpSpace(on connection: SQLConnection) {}

    func eraseDeleted() async {}

    func close() async {
        await commits.finish()
        try? queue.close()
    }
}
