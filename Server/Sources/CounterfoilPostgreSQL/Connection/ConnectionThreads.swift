import CounterfoilStore
import Foundation

/// The connections to one database, each on a thread of its own, and the queue of the requests for them.
///
/// A thread opens its connection when it is needed, and has one request in progress. While no connection can be opened,
/// requests are refused at once, and one thread keeps trying. The threads run until ``close(within:)``.
final class ConnectionThreads: Sendable {
    struct Settings: Sendable {
        /// The number of threads, and with it of connections.
        var threads = PostgreSQLStore.standardConnections
        /// The maximum number of requests that wait for a connection.
        var queueLimit = 10_000
        /// The time after which a connection is replaced, so that load moves to other servers behind one name.
        ///
        /// Each connection has up to a fifth less, so that they do not all end at once.
        var lifetime = Duration.seconds(1800)
        /// The first and the longest pause between two attempts to connect.
        var firstPause = Duration.milliseconds(50)
        var longestPause = Duration.seconds(5)
        var limits = SessionLimits()
    }

    let string: ConnectionString
    let settings: Settings
    /// The clock of the database.
    let clock: DatabaseClock
    let schedule: Schedule
    /// The durations, faults and batches of the store.
    let meter = StoreMeter()

    /// Connects to a database, checks it, and starts the threads.
    ///
    /// - Parameters:
    ///   - string: The connection string.
    ///   - settings: The number of connections and the limits.
    ///   - rights: What the user must be able to do.
    static func open(
        _ string: ConnectionString, settings: Settings = Settings(), rights: DatabaseRights = .use
    ) async throws(OpeningRefusal) -> ConnectionThreads {
        // Connecting waits, so it needs a thread that is not one of the tasks.
        let result: Result<ClockMeasurement, OpeningRefusal> = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    returning: Result { () throws(OpeningRefusal) in
                        try OpeningCheck(string, settings.limits, rights).run()
                    })
            }
        }
        return ConnectionThreads(string, settings, clock: DatabaseClock(try result.get()))
    }

    private init(_ string: ConnectionString, _ settings: Settings, clock: DatabaseClock) {
        self.string = string
        self.settings = settings
        self.clock = clock
        schedule = Schedule(threads: settings.threads, queueLimit: settings.queueLimit)
        for place in 0..<settings.threads {
            let thread = ConnectionThread(place, string: string, settings: settings, clock: clock, schedule: schedule)
            thread.start()
        }
        DeadlineWatch(schedule).start()
    }

    /// Reads on one connection; each query is one round trip and sees the state of its own moment.
    ///
    /// The closure runs again on another connection if the first is lost. It must not change anything.
    func read<Value: Sendable>(
        by deadline: ContinuousClock.Instant? = nil, _ body: @escaping @Sendable (inout Transaction) throws -> Value
    ) async throws(StoreFault) -> Value {
        try await run(.read, by: deadline, isRepeatable: true) { $0.attempt(.reads, by: $1, body) }
    }

    /// Reads the state of one moment with several queries.
    func snapshot<Value: Sendable>(
        by deadline: ContinuousClock.Instant? = nil, _ body: @escaping @Sendable (inout Transaction) throws -> Value
    ) async throws(StoreFault) -> Value {
        try await run(.read, by: deadline, isRepeatable: true) { $0.attempt(.snapshot, by: $1, body) }
    }

    /// Runs a closure in a transaction and returns its value after the commit.
    ///
    /// The closure runs again after a serialization failure, a deadlock, or the loss of a connection before the commit.
    /// It must do nothing but run statements and compute.
    ///
    /// - Parameters:
    ///   - isolation: The isolation level.
    ///   - deadline: The time until which the transaction is tried; nil for a minute from now.
    ///   - isRepeatable: Whether the transaction has the same result if it is committed twice, because it contains a
    ///     mark (`CommitAttempt`). If its result is unknown, it is then sent again on another connection until the
    ///     deadline.
    ///   - body: The transaction.
    /// - Throws: `StoreFault.unconfirmed` if it is unknown whether the transaction was committed; any other fault if it
    ///   was not.
    func commit<Value: Sendable>(
        _ isolation: TransactionKind.Isolation = .readCommitted, by deadline: ContinuousClock.Instant? = nil,
        isRepeatable: Bool = false, _ body: @escaping @Sendable (inout Transaction) throws -> Value
    ) async throws(StoreFault) -> Value {
        try await run(.commit, by: deadline, isRepeatable: isRepeatable) {
            $0.attempt(.commit(isolation), by: $1, body)
        }
    }

    /// Runs a closure in a transaction that has the same effect as if all such transactions ran one after another, and
    /// returns its value after the commit, with the messages of the level INFO that its functions have raised.
    ///
    /// Everything else is as for `commit`.
    ///
    /// - Parameters:
    ///   - company: The transactions of this kind that may run at the same time.
    ///   - deadline: As for `commit`.
    ///   - body: The transaction.
    func commitInOrder<Value: Sendable>(
        beside company: TransactionKind.Company, by deadline: ContinuousClock.Instant? = nil,
        _ body: @escaping @Sendable (inout Transaction) throws -> Value
    ) async throws(StoreFault) -> (value: Value, infos: Set<String>) {
        try await run(.commit, by: deadline, isRepeatable: false) { connection, deadline in
            connection.attempt(.ordered(company), by: deadline, body).map { ($0, connection.infos) }
        }
    }

    /// Commits statements as one transaction in one round trip.
    ///
    /// - Parameters:
    ///   - statements: The statements. They can be sent several times, like the closure of the other `commit`.
    ///   - deadline: As for the other `commit`.
    ///   - isRepeatable: As for the other `commit`.
    ///   - read: The function that makes the outcome of the rows of each statement. It runs after the commit, so if it
    ///     throws, the fault is `StoreFault.unconfirmed`.
    func commit<Value: Sendable>(
        _ statements: [Statement], by deadline: ContinuousClock.Instant? = nil, isRepeatable: Bool = false,
        read: @escaping @Sendable ([Rows]) throws -> Value
    ) async throws(StoreFault) -> Value {
        try await run(.commit, by: deadline, isRepeatable: isRepeatable) { $0.attempt(statements, by: $1, read) }
    }

    /// Refuses new requests and returns when the waiting ones are done, or after a time limit.
    ///
    /// At the limit, what waits is refused, and a thread that is still waiting for an answer ends after it.
    func close(within limit: Duration = .seconds(10)) async {
        await withCheckedContinuation { continuation in
            guard schedule.close(continuation) else { return }
            Task.detached { [schedule] in
                try? await Task.sleep(for: limit)
                schedule.giveUpClosing()
            }
        }
    }

    /// Waits for a result, whatever happens to the caller's task: a cancelled task learns the outcome, too.
    private func run<Value: Sendable>(
        _ operation: StoreMeter.Operation, by deadline: ContinuousClock.Instant?, isRepeatable: Bool,
        _ attempt: @escaping @Sendable (Connection, ContinuousClock.Instant) -> AttemptEnd<Value>
    ) async throws(StoreFault) -> Value {
        let deadline = deadline ?? Self.deadline
        let start = ContinuousClock.now
        let result: Result<Value, StoreFault> = await withCheckedContinuation { continuation in
            schedule.submit(
                Job(
                    deadline: deadline, isRepeatable: isRepeatable,
                    run: { connection, unconfirmed in
                        switch attempt(connection, deadline) {
                        case .success(let value): continuation.resume(returning: .success(value))
                        case .failed(.unavailable(let reason)) where unconfirmed != nil: return .again(reason: reason)
                        case .failed(let fault):
                            // This try has changed nothing, but an earlier one may have.
                            let fault = unconfirmed.map { .unconfirmed($0) } ?? fault
                            continuation.resume(returning: .failure(fault))
                        case .again(let reason): return .again(reason: reason)
                        case .unknown(let reason): return .unknown(reason: reason)
                        }
                        return .answered
                    },
                    refuse: { refusal, unconfirmed in
                        continuation.resume(returning: .failure(StoreFault(refusal, unconfirmed: unconfirmed)))
                    }
                ))
        }
        do {
            let value = try result.get()
            meter.note(operation, since: start)
            return value
        } catch {
            meter.note(operation, since: start, fault: error)
            throw error
        }
    }

    /// The deadline of an operation that begins now for a service or a command, for which no browser waits.
    static var deadline: ContinuousClock.Instant { .now + patience }

    private static let patience = Duration.seconds(60)
}
