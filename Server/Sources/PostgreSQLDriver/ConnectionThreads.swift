import Foundation

/// The connections to one database, each on a thread of its own, and the queue of the requests for them.
///
/// A thread opens its connection when it is needed, and has one request in progress. While no connection can be opened,
/// requests are refused at once, and one thread keeps trying. The threads run until ``close(within:)``.
///
/// A request throws ``DatabaseFault``, or the error of its closure.
package final class ConnectionThreads: Sendable {
    package struct Settings: Sendable {
        /// The number of threads, and with it of connections.
        package var threads = 8
        /// The maximum number of requests that wait for a connection.
        package var queueLimit = 10_000
        /// The time after which a connection is replaced, so that load moves to other servers behind one name.
        ///
        /// Each connection has up to a fifth less, so that they do not all end at once.
        package var lifetime = Duration.seconds(1800)
        /// The first and the longest pause between two attempts to connect.
        package var firstPause = Duration.milliseconds(50)
        package var longestPause = Duration.seconds(5)
        package var limits = SessionLimits()
        /// Returns the text of a failure to connect, with which requests are refused meanwhile.
        package var describe: @Sendable (ConnectionFailure) -> String = { "\($0)" }

        package init() {}
    }

    package let settings: Settings
    /// The clock of the database.
    package let clock: DatabaseClock
    let schedule: Schedule

    /// Connects to a database, checks it, and starts the threads.
    package static func open(
        _ uri: ConnectionURI, settings: Settings = Settings()
    ) async throws(ConnectionFailure) -> ConnectionThreads {
        let clock = try await onThread { () throws(ConnectionFailure) in
            try Connection.openChecked(uri, limits: settings.limits).clock
        }
        return ConnectionThreads(uri, settings, clock: DatabaseClock(clock))
    }

    /// Runs a function that waits, so that it needs a thread that is not one of the tasks.
    package static func onThread<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: Result(catching: body)) }
        }
        return try result.get()
    }

    private init(_ uri: ConnectionURI, _ settings: Settings, clock: DatabaseClock) {
        self.settings = settings
        self.clock = clock
        schedule = Schedule(threads: settings.threads, queueLimit: settings.queueLimit)
        for index in 0..<settings.threads {
            ConnectionThread(index: index, uri: uri, settings: settings, clock: clock, schedule: schedule).start()
        }
        schedule.startDeadlineWatch()
    }

    /// The number of requests that wait for a connection.
    package var waitingCount: Int { schedule.waitingCount }

    package var openConnections: Int { schedule.openConnections }

    /// Reads on one connection; each query is one round trip and sees the state of its own moment.
    ///
    /// The closure runs again on another connection if the first is lost. It must not change anything.
    package func read<Value: Sendable>(
        by deadline: ContinuousClock.Instant? = nil, _ body: @escaping @Sendable (inout Transaction) throws -> Value
    ) async throws -> Value {
        try await run(by: deadline, isRepeatable: true) { $0.attempt(nil, by: $1, body) }
    }

    /// Runs a closure in a transaction and returns its value after the commit.
    ///
    /// The closure runs again after a serialization failure, a deadlock, or the loss of a connection before the commit.
    /// It must do nothing but run statements and compute.
    ///
    /// - Parameters:
    ///   - opening: The statements with which the transaction begins.
    ///   - deadline: The time until which the transaction is tried; nil for a minute from now.
    ///   - body: The transaction.
    /// - Throws: ``DatabaseFault/unconfirmed(_:)`` if it is unknown whether the transaction was committed; any other
    ///   error if it was not.
    package func commit<Value: Sendable>(
        _ opening: TransactionOpening = .readCommitted, by deadline: ContinuousClock.Instant? = nil,
        _ body: @escaping @Sendable (inout Transaction) throws -> Value
    ) async throws -> Value {
        try await run(by: deadline, isRepeatable: false) { $0.attempt(opening, by: $1, body) }
    }

    /// Runs a closure in a transaction as `commit` does, and returns its value with the messages of the level INFO that
    /// functions of the database have raised in it.
    package func commitWithMessages<Value: Sendable>(
        _ opening: TransactionOpening, by deadline: ContinuousClock.Instant? = nil,
        _ body: @escaping @Sendable (inout Transaction) throws -> Value
    ) async throws -> (value: Value, infos: Set<String>) {
        try await run(by: deadline, isRepeatable: false) { connection, deadline in
            connection.attempt(opening, by: deadline, body).map { ($0, connection.infos) }
        }
    }

    /// Commits statements as one transaction in one round trip.
    ///
    /// - Parameters:
    ///   - statements: The statements. They can be sent several times, like the closure of the other `commit`.
    ///   - deadline: As for the other `commit`.
    ///   - isRepeatable: Whether the statements have the same result if they are committed twice, because they contain
    ///     a mark. If the result is unknown, they are then sent again on another connection until the deadline.
    ///   - read: The function that makes the outcome of the rows of each statement. It runs after the commit, so if it
    ///     throws, the fault is ``DatabaseFault/unconfirmed(_:)``.
    package func commit<Value: Sendable>(
        _ statements: [Statement], by deadline: ContinuousClock.Instant? = nil, isRepeatable: Bool = false,
        read: @escaping @Sendable ([Rows]) throws -> Value
    ) async throws -> Value {
        try await run(by: deadline, isRepeatable: isRepeatable) { $0.attempt(statements, by: $1, read) }
    }

    /// Refuses new requests and returns when the waiting ones are done, or after a time limit.
    ///
    /// At the limit, what waits is refused, and a thread that is still waiting for an answer ends after it.
    package func close(within limit: Duration = .seconds(10)) async {
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
        by deadline: ContinuousClock.Instant?, isRepeatable: Bool,
        _ attempt: @escaping @Sendable (Connection, ContinuousClock.Instant) -> AttemptEnd<Value>
    ) async throws -> Value {
        let deadline = deadline ?? Self.deadline
        let result: Result<Value, any Error> = await withCheckedContinuation { continuation in
            schedule.submit(
                Job(
                    deadline: deadline, isRepeatable: isRepeatable,
                    run: { connection, unconfirmed in
                        switch attempt(connection, deadline) {
                        case .success(let value): continuation.resume(returning: .success(value))
                        case .failed(let error):
                            if let unconfirmed {
                                if case .unavailable(let reason)? = error as? DatabaseFault {
                                    return .again(reason: reason)
                                }
                                // This try has changed nothing, but an earlier one may have.
                                continuation.resume(returning: .failure(DatabaseFault.unconfirmed(unconfirmed)))
                            } else {
                                continuation.resume(returning: .failure(error))
                            }
                        case .again(let reason): return .again(reason: reason)
                        case .unknown(let reason): return .unknown(reason: reason)
                        }
                        return .answered
                    },
                    refuse: { refusal, unconfirmed in
                        continuation.resume(returning: .failure(DatabaseFault(refusal, unconfirmed: unconfirmed)))
                    }
                ))
        }
        return try result.get()
    }

    /// The deadline of a request without one, for which no user waits.
    static var deadline: ContinuousClock.Instant { .now + patience }

    private static let patience = Duration.seconds(60)
}
