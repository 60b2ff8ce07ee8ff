import CounterfoilSQL
import CounterfoilServer
import Foundation

/// The connections of a store to its database, and the clock of the database.
///
/// Each commit is a serializable transaction, so it sees and changes the same as if the transactions of all nodes ran
/// one after another. PostgreSQL refuses one of two that do not. That one runs again, after a few attempts alone.
struct PostgreSQLEngine: SQLEngine {
    let threads: ConnectionThreads
    /// The notes of used client assertions and of used DPoP proofs, which share transactions.
    let assertions: Gathering<AssertionNote>
    let proofs: Gathering<ProofNote>

    init(threads: ConnectionThreads) {
        self.threads = threads
        assertions = Gathering(threads)
        proofs = Gathering(threads)
    }

    var kind: StoreMeasurements.Kind { .postgresql }

    var now: Date { threads.clock.now() }

    var measurements: StoreMeasurements {
        StoreMeasurements(
            .postgresql, threads.meter,
            waiting: threads.schedule.waitingCount + assertions.waitingCount + proofs.waitingCount,
            connections: StoreMeasurements.Connections(
                open: threads.schedule.openConnections, limit: threads.settings.threads))
    }

    func read<Value: Sendable>(
        _ queries: @escaping @Sendable (SQLConnection) throws -> Value
    ) async throws(StoreFault) -> Value {
        try await threads.read { transaction in try queries(SQLConnection(transaction)) }
    }

    func commit<Value: Sendable>(
        _ write: @escaping @Sendable (SQLConnection) throws -> Value
    ) async throws(StoreFault) -> Value {
        try await threads.commitInOrder { transaction in try write(SQLConnection(transaction)) }
    }

    /// Every node asks the database for its time.
    func noteClock(on connection: SQLConnection) {}

    /// The database decides when it overwrites what was deleted.
    func eraseDeleted() async {}
}
