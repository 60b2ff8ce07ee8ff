import CounterfoilServer

/// The purpose of a transaction, and with it the state that it sees.
enum TransactionKind: Sendable {
    /// Reads, each of which sees the state of its own moment; each is one round trip.
    case reads
    /// Reads that all see the state of one moment.
    case snapshot
    /// Reads and writes that are committed together.
    case commit(Isolation)

    enum Isolation: String, Sendable {
        case readCommitted = "READ COMMITTED"
        case repeatableRead = "REPEATABLE READ"
        case serializable = "SERIALIZABLE"
    }

    /// The statement that begins the transaction; nil if each statement is a transaction of its own.
    fileprivate var begin: String? {
        switch self {
        case .reads: nil
        case .snapshot: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        case .commit(let isolation): "BEGIN ISOLATION LEVEL \(isolation.rawValue)"
        }
    }
}

/// A transaction under way, on the thread of its connection.
///
/// Its functions are those of `Database` in the SQLite store. The parameters in the SQL are `$1`, `$2` and so on.
/// `BEGIN` is sent together with the first statement.
struct Transaction: ~Copyable {
    /// The state of the transaction, apart from the closure that runs it.
    private final class Progress {
        var hasBegun = false
        /// The first error of a statement, after which the transaction sends nothing more and does not commit.
        var failure: (any Error)?
    }

    private let connection: Connection
    private let kind: TransactionKind
    /// The time at which the connection is closed if the server has not answered.
    let deadline: ContinuousClock.Instant
    private let progress = Progress()

    init(on connection: Connection, _ kind: TransactionKind, by deadline: ContinuousClock.Instant) {
        self.connection = connection
        self.kind = kind
        self.deadline = deadline
    }

    /// Runs a statement, which is prepared at its first use, and returns the number of rows that an INSERT, UPDATE or
    /// DELETE changed.
    @discardableResult
    func run(_ sql: String, _ values: (any SQLValue)?...) throws -> Int { try run(sql, values: values) }

    @discardableResult
    func run(_ sql: String, values: [(any SQLValue)?]) throws -> Int { try rows(sql, values).changes }

    /// Runs several statements in one round trip, and returns the rows of each.
    ///
    /// After an error of a statement, it throws this error and sends nothing, also if the closure has caught the error.
    /// Without a transaction block, a later statement would be committed alone.
    func runTogether(_ statements: [Statement]) throws -> [Rows] {
        guard !statements.isEmpty else { return [] }
        if let failure = progress.failure { throw failure }
        do {
            for statement in statements { try statement.check() }
            guard let begin = kind.begin, !progress.hasBegun else {
                return try connection.exchange(statements, by: deadline)
            }
            // After a failure, there may be a transaction block that waits for its ROLLBACK.
            progress.hasBegun = true
            return Array(try connection.exchange([Statement(begin)] + statements, by: deadline).dropFirst())
        } catch {
            progress.failure = error
            throw error
        }
    }

    /// Returns the first row of a query; nil if there is none.
    func first<Value>(
        _ sql: String, _ values: (any SQLValue)?..., read: (inout Columns) throws -> Value
    ) throws -> Value? {
        try rows(sql, values).first(read)
    }

    func all<Value>(
        _ sql: String, _ values: (any SQLValue)?..., read: (inout Columns) throws -> Value
    ) throws -> [Value] {
        try rows(sql, values).all(read)
    }

    func all<Value>(
        _ sql: String, values: [(any SQLValue)?], read: (inout Columns) throws -> Value
    ) throws -> [Value] {
        try rows(sql, values).all(read)
    }

    /// Returns the rows of a list, without those that have a value which this version does not know.
    ///
    /// - Parameters:
    ///   - sql: The query. All its rows are fetched, so a long list needs a LIMIT that leaves room for rows that are
    ///     left out.
    ///   - values: The parameters of the query.
    ///   - limit: The maximum number of returned rows.
    ///   - unsupported: The reporter of the values because of which rows are left out.
    ///   - read: The function that reads a row.
    func list<Value>(
        _ sql: String, _ values: (any SQLValue)?..., atMost limit: Int = .max,
        noting unsupported: UnsupportedValues, read: (inout Columns) throws -> Value
    ) throws -> [Value] {
        try rows(sql, values).list(atMost: limit, noting: unsupported, read)
    }

    /// Returns the columns of the first row as flags, for a query that tests several conditions at once.
    func answers(_ sql: String, _ values: (any SQLValue)?...) throws -> [Bool] { try rows(sql, values).answers() }

    private func rows(_ sql: String, _ values: [(any SQLValue)?]) throws -> Rows {
        let rows = try runTogether([Statement(sql, values: values)])
        guard let first = rows.first else { throw StoreFault.damaged("a statement has no result") }
        return first
    }

    /// An error for a commit whose result is unknown.
    struct UnknownCommit: Error {
        let reason: String
    }

    /// Commits, if anything was sent, unless a statement has failed.
    ///
    /// - Throws: ``UnknownCommit`` if it is unknown whether the server has committed. Any other error means that
    ///   nothing was changed.
    func commit() throws {
        if let failure = progress.failure { throw failure }
        guard progress.hasBegun else { return }
        let end: Rows
        do {
            guard let rows = try connection.exchange([Statement("COMMIT")], by: deadline).first else { return }
            end = rows
        } catch let loss as ConnectionLoss where loss.isAfterEnd {
            throw UnknownCommit(reason: loss.reason)
        } catch let error as ServerError where error.state.leavesCommitUnknown {
            throw UnknownCommit(reason: error.description)
        }
        // COMMIT of a failed transaction succeeds and rolls back.
        guard end.command == "COMMIT" else {
            throw StoreFault.damaged("a transaction was rolled back because one of its statements had failed")
        }
        if connection.skippedReplication { throw UnknownCommit(reason: Self.skipped) }
    }

    /// Ends the transaction without its changes; closes the connection if the server does not answer.
    func rollBack() {
        guard progress.hasBegun, connection.isUsable else { return }
        // It is late, but a connection with an open transaction is of no use to others.
        let limit = max(deadline, .now + .milliseconds(500))
        if (try? connection.exchange([Statement("ROLLBACK")], by: limit)) == nil { connection.close() }
    }

    /// The reason for which the result of an acknowledged commit is unknown.
    static let skipped = "an administrator has cancelled the wait for the synchronous standby"
}
