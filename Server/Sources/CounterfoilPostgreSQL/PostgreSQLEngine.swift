import CounterfoilSQL
import CounterfoilStore
import Foundation
import PostgreSQLDriver

/// The connections of a store to its database, and the clock of the database.
///
/// Each commit is a serializable transaction, so it sees and changes the same as if the transactions of all nodes ran
/// one after another. PostgreSQL refuses one of two that do not. That one runs again, after a few attempts alone.
struct PostgreSQLEngine: SQLEngine {
    let connections: StoreConnections
    /// The notes of used client assertions and of used DPoP proofs, which share transactions.
    let assertions: CommitBatcher<AssertionInsert>
    let proofs: CommitBatcher<ProofInsert>
    /// The deadline of the request; nil for a service or a command.
    private var deadline: ContinuousClock.Instant?

    init(_ connections: StoreConnections) {
        self.connections = connections
        assertions = CommitBatcher(connections.threads)
        proofs = CommitBatcher(connections.threads)
    }

    func serving(_ request: RequestContext) -> PostgreSQLEngine {
        var bound = self
        bound.deadline = request.deadline
        return bound
    }

    var kind: StoreMeasurements.Kind { .postgresql }

    var now: Date { connections.threads.clock.now() }

    var measurements: StoreMeasurements {
        connections.measurements(waiting: assertions.waitingCount + proofs.waitingCount)
    }

    func read<Value: Sendable>(
        as operation: StaticString, _ queries: @escaping @Sendable (SQLConnection) throws -> Value
    ) async throws(StoreFault) -> Value {
        try await connections.read(by: deadline) { transaction in try queries(SQLConnection(transaction)) }
    }

    func commit<Value: Sendable>(
        as operation: StaticString, ending endings: DeclaredEndings,
        _ write: @escaping @Sendable (SQLConnection) throws -> Value
    ) async throws(StoreFault) -> Committed<Value> {
        let opening: TransactionOpening = endings.isUsual ? .ending : .ordinary
        let (value, infos) = try await connections.commit(opening, by: deadline) { transaction in
            try write(SQLConnection(transaction))
        }
        // The function `record_ending` sends the kinds of the endings.
        return Committed(value, ending: infos)
    }

    /// Every node asks the database for its time.
    func noteClock(on connection: SQLConnection) {}

    /// Writes a temporary file to the default tablespace of the database, where the tables are, and not to one of
    /// `temp_tablespaces`, whose disk can be full while everything works.
    ///
    /// Rows would be written to space that deleted ones have left, while other tables cannot grow. A function in FROM
    /// keeps its rows, and writes those that do not fit into `work_mem` to a file.
    func takeUpSpace(on connection: SQLConnection) throws {
        _ = try connection.first(
            "SELECT set_config('work_mem', '64kB', true) || set_config('temp_tablespaces', '', true)"
        ) { columns in try columns.text() }
        _ = try connection.first(
            """
            SELECT count(*) FROM generate_series(
                1, CASE current_setting('temp_file_limit') WHEN '-1' THEN 8000 ELSE 1 END)
            """
        ) { columns in try columns.integer() }
    }

    /// The database decides when it overwrites what was deleted.
    func eraseDeleted() async {}
}
