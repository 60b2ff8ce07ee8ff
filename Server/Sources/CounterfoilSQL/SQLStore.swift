public import CounterfoilStore
package import Foundation

/// A store whose records are rows in the tables of an SQL database.
///
/// An extension of this protocol contains every operation of a store once, for all databases: what it reads, and what
/// it writes in one transaction. A store of one database adds how it opens and what its ``database`` is. It can replace
/// an operation by statements of its own.
///
/// A transaction must see the same as if the transactions ran one after another.
public protocol SQLStore: RegistryStore, UncachedStore {
    /// The database of the store.
    var database: SQLDatabase { get }

    /// Completes what was begun, refuses what comes later, and closes the connections.
    func close() async
}

/// The database of a store, through which its operations read and commit.
public struct SQLDatabase: Sendable {
    package private(set) var engine: any SQLEngine
    /// The reporter of values because of which records are left out.
    package private(set) var unsupported: UnsupportedValues
    /// The request whose operations use the database; nil for a service or a command.
    package private(set) var request: RequestContext?
    /// The endings journal of the store, if it has one.
    package let endings = EndingsOutlet()

    /// The durations, faults and sizes for the metrics of this process.
    package var measurements: StoreMeasurements { engine.measurements }

    package init(_ engine: any SQLEngine, reporting unsupported: UnsupportedValues) {
        self.engine = engine
        self.unsupported = unsupported
    }

    /// Returns this database for the operations of one request.
    package func serving(_ request: RequestContext) -> SQLDatabase {
        var bound = self
        bound.engine = engine.serving(request)
        bound.unsupported = unsupported.serving(request)
        bound.request = request
        return bound
    }
}

/// The tasks that each database does in its own way.
package protocol SQLEngine: Sendable {
    /// The kind of the database.
    var kind: StoreMeasurements.Kind { get }

    /// Returns this engine for the operations of one request, which end at its deadline if they can wait for long.
    func serving(_ request: RequestContext) -> Self

    /// The time by the clock of the store.
    var now: Date { get }

    /// The durations, faults and sizes for the metrics of this process.
    var measurements: StoreMeasurements { get }

    /// Runs queries without a transaction around them, so two of them can see different states.
    ///
    /// - Parameters:
    ///   - operation: The name of the method of the store, as `#function` gives it.
    ///   - queries: The function that runs the queries.
    func read<Value: Sendable>(
        as operation: StaticString, _ queries: @escaping @Sendable (SQLConnection) throws -> Value
    ) async throws(StoreFault) -> Value

    /// Commits one atomic write, and returns its outcome and what it has ended, once it is durable.
    ///
    /// The closure can run several times, before the one that is committed. It must do nothing but run statements and
    /// compute.
    ///
    /// - Parameters:
    ///   - operation: The name of the method of the store, as `#function` gives it.
    ///   - endings: What the commit can end.
    ///   - write: The function that runs the statements.
    func commit<Value: Sendable>(
        as operation: StaticString, ending endings: DeclaredEndings,
        _ write: @escaping @Sendable (SQLConnection) throws -> Value
    ) async throws(StoreFault) -> Committed<Value>

    /// Adds to the record of a heartbeat what other processes need to follow the clock of the store.
    func noteClock(on connection: SQLConnection) throws

    /// Writes some 100 KiB to new space of the disk, and removes them again.
    func takeUpSpace(on connection: SQLConnection) throws

    /// Overwrites what files of the database still contain of deleted records, as far as that is possible now.
    func eraseDeleted() async
}

extension SQLEngine {
    /// Returns this engine, whose operations do not depend on the request.
    package func serving(_ request: RequestContext) -> Self { self }

    /// Runs queries under the name of the calling function.
    package func read<Value: Sendable>(
        function: StaticString = #function, _ queries: @escaping @Sendable (SQLConnection) throws -> Value
    ) async throws(StoreFault) -> Value {
        try await read(as: function, queries)
    }

    /// Commits one atomic write under the name of the calling function.
    package func commit<Value: Sendable>(
        function: StaticString = #function, ending endings: DeclaredEndings = .none,
        _ write: @escaping @Sendable (SQLConnection) throws -> Value
    ) async throws(StoreFault) -> Value {
        try await commit(as: function, ending: endings, write).value
    }
}

/// The queries of the store that tests examine, or that the schema repeats in an index.
package enum StoreQuery {}

extension SQLStore {
    var unsupported: UnsupportedValues { database.unsupported }

    /// Runs queries under the name of the calling function, in a span of their own.
    package func read<Value: Sendable>(
        function: StaticString = #function, _ queries: @escaping @Sendable (SQLConnection) throws -> Value
    ) async throws(StoreFault) -> Value {
        let span = database.request?.span.begin(.store(.read, function, in: database.engine.kind))
        do {
            let value = try await database.engine.read(as: function, queries)
            span?.end()
            return value
        } catch {
            span?.end(failing: StoreMeter.Fault(error).rawValue)
            unsupported.note(error)
            throw error
        }
    }

    /// Commits one atomic write, and appends what it has ended to the journal before it returns the outcome.
    ///
    /// - Parameters:
    ///   - function: The name of the operation.
    ///   - endings: What the commit can end.
    ///   - write: The function that runs the statements.
    func commit<Outcome: Sendable>(
        function: StaticString = #function, ending endings: DeclaredEndings = .none,
        _ write: @escaping @Sendable (SQLConnection) throws -> Outcome
    ) async throws(StoreFault) -> Outcome {
        let span = database.request?.span.begin(.store(.commit, function, in: database.engine.kind))
        do {
            let committed = try await database.engine.commit(as: function, ending: endings, write)
            if !committed.ended.isEmpty { await database.endings.journal?.catchUp() }
            let undeclared = endings.undeclared(among: committed.ended)
            assert(undeclared.isEmpty, "\(function) does not declare that it ends \(undeclared.map(\.name).sorted())")
            span?.end()
            return committed.value
        } catch {
            span?.end(failing: StoreMeter.Fault(error).rawValue)
            throw error
        }
    }

    /// Commits one atomic write, and appends the events that describe it in the same transaction.
    ///
    /// The events are appended only if the outcome is a success. If an event cannot be appended, the write is rolled
    /// back, too.
    func commit<Outcome: CommitOutcome>(
        function: StaticString = #function, ending endings: DeclaredEndings = .none, recording events: [AuditEvent],
        _ write: @escaping @Sendable (SQLConnection) throws -> Outcome
    ) async throws(StoreFault) -> Outcome {
        try await commit(function: function, ending: endings) { database in
            let outcome = try write(database)
            if outcome.isCommitted { try database.append(events) }
            return outcome
        }
    }
}
