import CounterfoilSQL
import CounterfoilStore
import PostgreSQLDriver

/// The connections of a store to its database, with the faults and the measurements of a store.
struct StoreConnections: Sendable {
    let threads: ConnectionThreads
    private let meter = StoreMeter()

    init(_ threads: ConnectionThreads) { self.threads = threads }

    /// The measurements, with a number of requests that wait in addition to those that the driver knows of.
    func measurements(waiting: Int) -> StoreMeasurements {
        StoreMeasurements(
            .postgresql, meter, waiting: threads.waitingCount + waiting,
            connections: StoreMeasurements.Connections(
                open: threads.openConnections, limit: threads.settings.threads))
    }

    /// Reads as `ConnectionThreads.read` does.
    func read<Value: Sendable>(
        by deadline: ContinuousClock.Instant? = nil, _ body: @escaping @Sendable (inout Transaction) throws -> Value
    ) async throws(StoreFault) -> Value {
        try await measured(.read) { try await threads.read(by: deadline, body) }
    }

    /// Runs a closure in a transaction as `ConnectionThreads.commit` does.
    func commit<Value: Sendable>(
        by deadline: ContinuousClock.Instant? = nil, _ body: @escaping @Sendable (inout Transaction) throws -> Value
    ) async throws(StoreFault) -> Value {
        try await measured(.commit) { try await threads.commit(by: deadline, body) }
    }

    /// Commits in a transaction with an opening of its own.
    ///
    /// - Returns: The value, and the messages of the level INFO that functions of the database have raised.
    func commit<Value: Sendable>(
        _ opening: TransactionOpening, by deadline: ContinuousClock.Instant?,
        _ body: @escaping @Sendable (inout Transaction) throws -> Value
    ) async throws(StoreFault) -> (value: Value, infos: Set<String>) {
        try await measured(.commit) { try await threads.commitWithMessages(opening, by: deadline, body) }
    }

    /// Commits statements in one round trip as `ConnectionThreads.commit` does.
    func commit<Value: Sendable>(
        _ statements: [Statement], by deadline: ContinuousClock.Instant? = nil,
        read: @escaping @Sendable ([Rows]) throws -> Value
    ) async throws(StoreFault) -> Value {
        try await measured(.commit) { try await threads.commit(statements, by: deadline, read: read) }
    }

    /// Commits together with others of the same kind.
    ///
    /// - Parameters:
    ///   - commit: What to commit. It may be sent several times.
    ///   - gathering: The queue for the commits of this kind.
    ///   - deadline: The deadline of the request.
    ///   - isRepeatable: Whether the commit has a mark (`CommitAttempt`), so that it can be sent again if its result is
    ///     unknown.
    func commit<Commit: BatchedCommit>(
        _ commit: Commit, with gathering: CommitBatcher<Commit>, by deadline: ContinuousClock.Instant?,
        isRepeatable: Bool = false
    ) async throws(StoreFault) -> Commit.Outcome {
        try await measured(.commit) {
            try await gathering.commit(commit, by: deadline, isRepeatable: isRepeatable)
        }
    }

    private func measured<Value: Sendable>(
        _ operation: StoreMeter.Operation, _ run: () async throws -> Value
    ) async throws(StoreFault) -> Value {
        let start = ContinuousClock.now
        do {
            let value = try await run()
            meter.note(operation, since: start)
            return value
        } catch {
            let fault = StoreFault(error)
            meter.note(operation, since: start, fault: fault)
            throw fault
        }
    }
}

extension PostgreSQLStore {
    /// Commits otherwise than by `SQLStore.commit`, in a span of its own.
    func traced<Value: Sendable>(
        function: StaticString = #function, _ operation: () async throws(StoreFault) -> Value
    ) async throws(StoreFault) -> Value {
        guard let span = database.request?.span.begin(.store(.commit, function, in: .postgresql)) else {
            return try await operation()
        }
        do {
            let value = try await operation()
            span.end()
            return value
        } catch {
            span.end(failing: StoreMeter.Fault(error).rawValue)
            throw error
        }
    }
}

extension TransactionOpening {
    /// A commit that runs beside all others.
    static let ordinary = ordered("ROW EXCLUSIVE")
    /// A commit that usually ends access: it waits for others of this sort, with which it would conflict, because each
    /// counts its endings.
    static let ending = ordered("SHARE UPDATE EXCLUSIVE")

    /// Creates the opening of a commit of the store, which is serializable with all others.
    ///
    /// A table that contains nothing orders the commits: those that lock it in the mode `ROW EXCLUSIVE` run beside each
    /// other, and one that locks it in the mode `SHARE ROW EXCLUSIVE` runs alone. Those that lock it in the mode
    /// `SHARE UPDATE EXCLUSIVE` wait for each other, and run beside the first ones.
    private static func ordered(_ mode: String) -> TransactionOpening {
        // While one waits to run alone, the commits after it wait, too, so it does not wait for long.
        TransactionOpening(
            statements(mode),
            alone: statements("SHARE ROW EXCLUSIVE", [Statement("SET LOCAL lock_timeout = '500ms'")]))
    }

    private static func statements(_ mode: String, _ settings: [Statement] = []) -> [Statement] {
        // A scan of a table would conflict with each change of any of its rows, so indexes are preferred. The planner
        // then takes a scan that it cannot avoid for expensive, and would compile it to machine code.
        [Statement("BEGIN ISOLATION LEVEL SERIALIZABLE")] + settings + [
            Statement("LOCK TABLE commit_order IN \(mode) MODE"), Statement("SET LOCAL enable_seqscan = off"),
            Statement("SET LOCAL jit = off"),
        ]
    }
}

extension StoreFault: LoggableError {
    /// The fault of a request that has ended with an error of the driver or of its closure.
    init(_ error: any Error) {
        switch error {
        case let fault as StoreFault: self = fault
        case DatabaseFault.unavailable(let reason): self = .unavailable(reason)
        case DatabaseFault.unconfirmed(let reason): self = .unconfirmed(reason)
        case DatabaseFault.failed(let reason): self = .damaged(reason)
        case let error as ServerError: self.init(error.fault)
        case let loss as ConnectionLoss: self = .unavailable(loss.reason)
        default: self = .damaged("unexpected failure: \(type(of: error))")
        }
    }
}
