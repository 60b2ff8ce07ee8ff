@_spi(Counterfoil) import CounterfoilProtocol
package import CounterfoilSQL
package import CounterfoilStore
package import Foundation
import GRDB

/// A store with the tables and operations of ``SQLiteStore`` in memory, for tests.
///
/// One connection reads and commits, on the threads of the callers. The content ends with the store.
package struct EphemeralStore: SQLStore {
    package private(set) var database: SQLDatabase
    private let proofs = ProcessProofs()

    /// Creates a store that contains only the standard scopes.
    package init() throws {
        database = SQLDatabase(
            EphemeralEngine(connection: try MemoryConnection()), reporting: UnsupportedValues { _ in })
    }

    package func serving(_ request: RequestContext) -> EphemeralStore {
        var bound = self
        bound.database = database.serving(request)
        return bound
    }

    package func close() async {}

    package func noteProof(_ proof: UsedProof, at now: Date) async throws(StoreFault) -> NoteProofOutcome {
        await proofs.noteProof(proof, at: now)
    }
}

/// The connection to a database in memory, and its clock.
private struct EphemeralEngine: SQLEngine {
    let connection: MemoryConnection
    private let clock = FileClock(following: nil, orFrom: nil)
    private let meter = StoreMeter()

    init(connection: MemoryConnection) { self.connection = connection }

    var kind: StoreMeasurements.Kind { .sqlite }

    var now: Date { clock.now }

    var measurements: StoreMeasurements { StoreMeasurements(.sqlite, meter, waiting: 0) }

    func read<Value: Sendable>(
        as operation: StaticString, _ queries: @escaping @Sendable (SQLConnection) throws -> Value
    ) async throws(StoreFault) -> Value {
        do { return try connection.read(queries) } catch { throw StoreFault(error) }
    }

    func commit<Value: Sendable>(
        as operation: StaticString, ending _: DeclaredEndings,
        _ write: @escaping @Sendable (SQLConnection) throws -> Value
    ) async throws(StoreFault) -> Committed<Value> {
        do { return try connection.commit(write) } catch { throw StoreFault(error) }
    }

    func noteClock(on connection: SQLConnection) {}

    func takeUpSpace(on connection: SQLConnection) {}

    func eraseDeleted() async {}
}

/// A connection to a database in memory, which another store uses after this one.
///
/// Its tables and its compiled statements stay. Making them takes longer than most tests.
private final class MemoryConnection: Sendable {
    private static let unused = Mutex<[DatabaseQueue]>([])

    private let queue: DatabaseQueue
    private let endings = EndingsWatch()

    init() throws {
        if let queue = Self.unused.withLock({ $0.popLast() }) {
            try queue.writeWithoutTransaction { [endings] database in
                endings.attach(to: database)
                try Self.restore(database)
            }
            self.queue = queue
        } else {
            queue = try DatabaseQueue()
            try queue.writeWithoutTransaction { [endings] database in
                endings.attach(to: database)
                try Migration.run(database)
                for table in try Self.tables(of: database) {
                    try database.execute(sql: "CREATE TEMP TABLE initial_\(table) AS SELECT * FROM \(table)")
                }
            }
        }
    }

    deinit { Self.unused.withLock { $0.append(queue) } }

    func read<Value>(_ queries: (SQLConnection) throws -> Value) throws -> Value {
        try queue.unsafeRead { database in try queries(database.connection) }
    }

    func commit<Value: Sendable>(_ write: (SQLConnection) throws -> Value) throws -> Committed<Value> {
        try queue.writeWithoutTransaction { database in
            try Self.commit({ try endings.commit(write, on: $0) }, to: database)
        }
    }

    private static func commit<Value>(
        _ write: (SQLConnection) throws -> Value, to database: Database
    ) throws -> Value {
        let connection = database.connection
        _ = try connection.run("BEGIN IMMEDIATE")
        do {
            let value = try write(connection)
            _ = try connection.run("COMMIT")
            return value
        } catch {
            // SQLite may have rolled the transaction back itself.
            if database.isInsideTransaction { _ = try? connection.run("ROLLBACK") }
            throw error
        }
    }

    /// Gives each table the rows of a new store.
    private static func restore(_ database: Database) throws {
        let tables = try tables(of: database)
        try commit(
            { connection in
                // Otherwise a trigger keeps the events of the audit log.
                try connection.send("INSERT INTO audit_removal VALUES (?1, ?1)", Int64.max)
                // Triggers record some of the deletions among the endings.
                for table in ["audit"] + tables + ["endings", "sqlite_sequence"] {
                    try connection.send("DELETE FROM \(table)")
                }
                for table in tables { try connection.send("INSERT INTO \(table) SELECT * FROM initial_\(table)") }
            }, to: database)
    }

    /// Returns the names of the tables, the last one first: an earlier one has no references to a later one.
    private static func tables(of database: Database) throws -> [String] {
        try database.connection.all(
            "SELECT name FROM main.sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY rowid DESC"
        ) { try $0.text() }
    }
}
