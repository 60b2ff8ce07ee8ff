import CounterfoilSQL
import CounterfoilServer
import CounterfoilStore
import Foundation

/// The engine of a database, whose reads and commits fail as a test says.
struct FaultyEngine: SQLEngine {
    let engine: any SQLEngine
    let faults: StoreFaults
    /// The request whose operations use the engine; nil outside of requests.
    var request: RequestContext?

    func serving(_ request: RequestContext) -> FaultyEngine {
        FaultyEngine(engine: engine.serving(request), faults: faults, request: request)
    }

    var kind: StoreMeasurements.Kind { engine.kind }

    var now: Date { engine.now }

    var measurements: StoreMeasurements { engine.measurements }

    func read<Value: Sendable>(
        as operation: StaticString, _ queries: @escaping @Sendable (SQLConnection) throws -> Value
    ) async throws(StoreFault) -> Value {
        try await faults.enter(StoreOperation(operation), for: request)
        return try await engine.read(as: operation, queries)
    }

    func commit<Value: Sendable>(
        as operation: StaticString, ending endings: DeclaredEndings,
        _ write: @escaping @Sendable (SQLConnection) throws -> Value
    ) async throws(StoreFault) -> Committed<Value> {
        try await faults.commit(StoreOperation(operation), for: request) { () async throws(StoreFault) in
            try await engine.commit(as: operation, ending: endings, write)
        }
    }

    func noteClock(on connection: SQLConnection) throws { try engine.noteClock(on: connection) }

    func takeUpSpace(on connection: SQLConnection) throws { try engine.takeUpSpace(on: connection) }

    func eraseDeleted() async { await engine.eraseDeleted() }
}
