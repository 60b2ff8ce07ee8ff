/// The statements with which transactions begin.
package struct TransactionOpening: Sendable {
    /// The statements of the first attempts, beginning with BEGIN.
    let statements: [Statement]
    /// The statements of the attempts after ``conflictLimit`` conflicts; nil for the same as before.
    ///
    /// They take a lock, so that the transaction has no competitor. Otherwise, many others could prevent it for as long
    /// as they continue.
    private let alone: [Statement]?

    /// Creates the opening of transactions that take locks, or have other settings, before their first query.
    ///
    /// With its first query, a transaction begins to see the database.
    package init(_ statements: [Statement], alone: [Statement]? = nil) {
        self.statements = statements
        self.alone = alone
    }

    package static let readCommitted = TransactionOpening([Statement("BEGIN ISOLATION LEVEL READ COMMITTED")])

    private static let conflictLimit = 2

    /// Returns the opening of another attempt after conflicts with other transactions.
    func after(conflicts: Int) -> TransactionOpening {
        guard let alone, conflicts >= Self.conflictLimit else { return self }
        return TransactionOpening(alone, alone: alone)
    }

    /// Returns true if an error, after a number of conflicts, is another conflict of transactions that can run alone.
    ///
    /// One may have waited too long for a lock. If two transactions insert one key and one of them has not looked for
    /// it first, PostgreSQL reports the key to the other instead of a conflict.
    func conflicts(by state: SQLState, after conflicts: Int) -> Bool {
        guard alone != nil else { return false }
        return state == .lockNotAvailable || (state == .uniqueViolation && conflicts == 0)
    }
}

/// A transaction under way, or reads that see the state of their own moment each, on the thread of the connection.
///
/// The parameters in the SQL are `$1`, `$2` and so on. `BEGIN` is sent together with the first statement, and `COMMIT`
/// together with the statements that still wait. Copies are the same transaction.
package struct Transaction {
    /// The state of the transaction, apart from the closure that runs it.
    private final class Progress {
        var hasBegun = false
        /// The statements whose answers are not needed, in their order, which are sent with the next one.
        var waiting: [Statement] = []
        /// Whether changes are committed, before the closure has returned.
        var isCommitted = false
        /// The first error of a statement, after which the transaction sends nothing more and does not commit.
        var failure: (any Error)?
    }

    private let connection: Connection
    /// The statements that begin the transaction; none if each statement is a transaction of its own.
    private let opening: [Statement]
    /// The time at which the connection is closed if the server has not answered.
    private let deadline: ContinuousClock.Instant
    private let progress = Progress()

    init(on connection: Connection, _ opening: TransactionOpening?, by deadline: ContinuousClock.Instant) {
        self.connection = connection
        self.opening = opening?.statements ?? []
        self.deadline = deadline
    }

    /// Runs a statement, which is prepared at its first use, and returns the number of rows that an INSERT, UPDATE or
    /// DELETE changed.
    @discardableResult
    package func run(_ sql: String, _ values: (any ParameterValue)?...) throws -> Int {
        try rows(of: Statement(sql, values: values)).changes
    }

    /// Runs several statements in one round trip, and returns the rows of each.
    ///
    /// After an error of a statement, it throws this error and sends nothing, also if the closure has caught the error.
    /// Without a transaction block, a later statement would be committed alone.
    private func runTogether(_ statements: [Statement]) throws -> [Rows] {
        guard !statements.isEmpty else { return [] }
        if let failure = progress.failure { throw failure }
        do {
            for statement in statements { try statement.check() }
            let before = progress.hasBegun ? progress.waiting : opening + progress.waiting
            progress.waiting = []
            // After a failure, there may be a transaction block that waits for its ROLLBACK.
            if !opening.isEmpty { progress.hasBegun = true }
            return Array(try connection.exchange(before + statements, by: deadline).dropFirst(before.count))
        } catch {
            throw failed(error)
        }
    }

    /// Runs a statement, which is prepared at its first use, and returns its rows.
    package func rows(of statement: Statement) throws -> Rows {
        guard let rows = try runTogether([statement]).first else { throw Self.noResult }
        return rows
    }

    private static let noResult = DatabaseFault.failed("a statement has no result")

    /// Sends a statement before the next one that has an answer, or with the end of the transaction.
    ///
    /// If it fails, the statement or the commit with which it is sent throws its error.
    package func runLater(_ statement: Statement) throws {
        if let failure = progress.failure { throw failure }
        do { try statement.check() } catch { throw failed(error) }
        progress.waiting.append(statement)
        if progress.waiting.count >= Self.waitingLimit { _ = try runTogether([Statement("SELECT 1")]) }
    }

    /// The maximum number of statements that wait, which bounds their memory.
    private static let waitingLimit = 256

    /// Runs the last statement and commits, in one round trip, and returns its rows.
    ///
    /// If it has changed nothing, and nothing was sent before, a later statement begins another transaction.
    package func runLast(_ statement: Statement) throws -> Rows {
        let changesMore = progress.hasBegun || !progress.waiting.isEmpty
        guard let rows = try runAndCommit([statement]).first else { throw Self.noResult }
        progress.isCommitted = changesMore || rows.changes > 0
        return rows
    }

    /// Returns the first row of a query; nil if there is none.
    package func first<Value>(
        _ sql: String, _ values: (any ParameterValue)?..., read: (inout ResultRow) throws -> Value
    ) throws -> Value? {
        try rows(of: Statement(sql, values: values)).first(read)
    }

    /// Returns the columns of the first row as flags, for a query that tests several conditions at once.
    package func answers(_ sql: String, _ values: (any ParameterValue)?...) throws -> [Bool] {
        try rows(of: Statement(sql, values: values)).answers()
    }

    /// Returns a statement with the parameters `?` as one with those of PostgreSQL.
    package func numbered(_ sql: String) -> String { connection.numbered(sql) }

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
        guard progress.hasBegun || !progress.waiting.isEmpty else { return }
        _ = try runAndCommit([])
    }

    /// Whether changes are committed, so that a later error does not mean that nothing was changed.
    var isCommitted: Bool { progress.isCommitted }

    /// Runs statements and commits, in one round trip; throws as ``commit()``.
    private func runAndCommit(_ statements: [Statement]) throws -> [Rows] {
        let rows: [Rows]
        do {
            rows = try runTogether(statements + [Statement("COMMIT")])
        } catch let loss as ConnectionLoss where loss.isAfterEnd {
            throw failed(UnknownCommit(reason: loss.reason))
        } catch let error as ServerError where error.state.leavesCommitUnknown {
            throw failed(UnknownCommit(reason: error.description))
        }
        progress.hasBegun = false
        // COMMIT of a failed transaction succeeds and rolls back.
        guard rows.last?.command == "COMMIT" else {
            throw failed(
                DatabaseFault.failed("a transaction was rolled back because one of its statements had failed"))
        }
        if connection.skippedReplication { throw failed(UnknownCommit(reason: Self.skipped)) }
        return rows.dropLast()
    }

    /// Notes the error with which the transaction ends, also if the closure catches it.
    private func failed(_ error: any Error) -> any Error {
        progress.failure = error
        return error
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
