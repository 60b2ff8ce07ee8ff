@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilSQL
import CounterfoilServer
import CounterfoilStore
import Foundation

/// Two stores on one database, of which each operation uses the other one than the operation before it.
struct AlternatingStore: SQLStore {
    private(set) var database: SQLDatabase
    private var nodes: [any SQLStore]
    private let turn = Turn()

    init(_ first: any SQLStore, _ second: any SQLStore) {
        database = SQLDatabase(
            AlternatingEngine(engines: [first.database.engine, second.database.engine]),
            reporting: first.database.unsupported)
        nodes = [first, second]
    }

    func serving(_ request: RequestContext) -> AlternatingStore {
        var bound = self
        bound.database = database.serving(request)
        bound.nodes = nodes.map { $0.serving(request) }
        return bound
    }

    private var next: any SQLStore { nodes[turn.next() % nodes.count] }

    // The operations that the store of a database can replace by statements of its own.

    func noteProof(_ proof: UsedProof, at now: Date) async throws(StoreFault) -> NoteProofOutcome {
        try await next.noteProof(proof, at: now)
    }

    func noteAssertion(
        _ digest: ArtefactDigest, expires: Date, attempt: CommitAttempt, now: Date
    ) async throws(StoreFault) -> Bool {
        try await next.noteAssertion(digest, expires: expires, attempt: attempt, now: now)
    }

    func admitAttempt(_ attempt: CountedAttempt, at now: Date) async throws(StoreFault) -> AttemptVerdict {
        try await next.admitAttempt(attempt, at: now)
    }

    func settleAttempt(
        forgetting forgotten: [ArtefactDigest], withdrawing withdrawn: [ArtefactDigest], admittedAt time: Date
    ) async throws(StoreFault) {
        try await next.settleAttempt(forgetting: forgotten, withdrawing: withdrawn, admittedAt: time)
    }

    func takeLogoutDeliveries(
        dueAt now: Date, until later: Date, limit: Int
    ) async throws(StoreFault) -> [LogoutDelivery] {
        try await next.takeLogoutDeliveries(dueAt: now, until: later, limit: limit)
    }

    func deleteExpired(_ limits: ExpirationLimits, atMost rows: Int) async throws(StoreFault) -> Int {
        try await next.deleteExpired(limits, atMost: rows)
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
    var engines: [any SQLEngine]
    let turn = Turn()

    func serving(_ request: RequestContext) -> AlternatingEngine {
        var bound = self
        bound.engines = engines.map { $0.serving(request) }
        return bound
    }

    private var next: any SQLEngine { engines[turn.next() % engines.count] }

    var kind: StoreMeasurements.Kind { next.kind }

    var now: Date { next.now }

    var measurements: StoreMeasurements { next.measurements }

    func read<Value: Sendable>(
        as operation: StaticString, _ queries: @escaping @Sendable (SQLConnection) throws -> Value
    ) async throws(StoreFault) -> Value {
        try await next.read(as: operation, queries)
    }

    func commit<Value: Sendable>(
        as operation: StaticString, ending endings: DeclaredEndings,
        _ write: @escaping @Sendable (SQLConnection) throws -> Value
    ) async throws(StoreFault) -> Committed<Value> {
        try await next.commit(as: operation, ending: endings, write)
    }

    func noteClock(on connection: SQLConnection) throws { try next.noteClock(on: connection) }

    func takeUpSpace(on connection: SQLConnection) throws { try next.takeUpSpace(on: connection) }

    func eraseDeleted() async { await next.eraseDeleted() }
}
