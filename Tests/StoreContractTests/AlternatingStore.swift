import CounterfoilProtocol
import CounterfoilSQL
import CounterfoilServer
import Foundation

/// Two stores on one database, of which each operation uses the other one than the operation before it.
struct AlternatingStore: SQLStore {
    let database: SQLDatabase
    private let nodes: [any SQLStore]
    private let turn = Turn()

    init(_ first: any SQLStore, _ second: any SQLStore) {
        database = SQLDatabase(
            AlternatingEngine(engines: [first.database.engine, second.database.engine]),
            reporting: first.database.unsupported)
        nodes = [first, second]
    }

    func noteProof(_ proof: UsedProof, at now: Date) async throws(StoreFault) -> NoteProofOutcome {
        try await nodes[turn.next() % nodes.count].noteProof(proof, at: now)
    }

    func close() async { for node in nodes { await node.close() } }
}

/// A count of operations, which decides whose turn it is.
private final class Turn: Sendable {
    private let count = Mutex(0)

    func next() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}

private struct AlternatingEngine: SQLEngine {
    let engines: [any SQLEngine]
    let turn = Turn()

    private var next: any SQLEngine { engines[turn.next() % engines.count] }

    var kind: StoreMeasurements.Kind { next.kind }

    var now: Date { next.now }

    var measurements: StoreMeasurements { next.measurements }

    func read<Value: Sendable>(
        _ queries: @escaping @Sendable (SQLConnection) throws -> Value
    ) async throws(StoreFault) -> Value {
        try await next.read(queries)
    }

    func commit<Value: Sendable>(
        _ write: @escaping @Sendable (SQLConnection) throws -> Value
    ) async throws(StoreFault) -> Value {
        try await next.commit(write)
    }

    func noteClock(on connection: SQLConnection) throws { try next.noteClock(on: connection) }

    func eraseDeleted() async { await next.eraseDeleted() }
}
