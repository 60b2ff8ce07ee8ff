import CounterfoilSQL
import CounterfoilStore

/// The purpose of a transaction, and with it the state that it sees.
enum TransactionKind: Sendable {
    /// Reads, each of which sees the state of its own moment; each is one round trip.
    case reads
    /// Reads that all see the state of one moment.
    case snapshot
    /// Reads and writes that are committed together.
    case commit(Isolation)
    /// A commit of the store, serializable with all others.
    case ordered(Company)

    /// The commits of the store that may run at the same time as one of them.
    enum Company: Sendable {
        case any
        /// All but those that usually end access, which would conflict because each counts its endings.
        case notEnding
        case none
    }

    enum Isolation: String, Sendable {
        case readCommitted = "READ COMMITTED"
        case repeatableRead = "REPEATABLE READ"
        case serializable = "SERIALIZABLE"
    }

    /// The statements that begin the transaction; none if each statement is a transaction of its own.
    fileprivate var opening: [Statement] {
        switch self {
        case .reads: []
        case .snapshot: [Statement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")]
        case .commit(let isolation): [Statement("BEGIN ISOLATION LEVEL \(isolation.rawValue)")]
        case .ordered(.any): Self.beside
        case .ordered(.notEnding): Self.queued
        case .ordered(.none): Self.alone
        }
    }

    private static let beside = ordered("ROW EXCLUSIVE")
    private static let queued = ordered("SHARE UPDATE EXCLUSIVE")
    /// While it waits for the lock, the commits after it wait, too, so it does not wait for long.
    private static let alone = ordered("SHARE ROW EXCLUSIVE", [Statement("SET LOCAL lock_timeout = '500ms'")])

    /// The statements that begin a commit of the store.
    ///
    /// A table that contains nothing orders the commits: those that lock it in the mode `ROW EXCLUSIVE` run beside each
    /// other, and one that locks it in the mode `SHARE ROW EXCLUSIVE` runs alone. Those that lock it in the mode
    /// `SHARE UPDATE EXCLUSIVE` wait for each other, and run beside the first ones. The lock comes before the first
    /// query, with which a transaction begins to see the database.
    ///
    /// A scan of a table would conflict with each change of any of its rows, so indexes are preferred. The planner then
    /// takes a scan that it cannot avoid for expensive, and would compile it to machine code.
    private static func ordered(_ mode: String, _ settings: [Statement] = []) -> [Statement] {
        [Statement("BEGIN ISOLATION LEVEL SERIALIZABLE")] + settings + [
            Statement("LOCK TABLE commit_order IN \(mode) MODE"), Statement("SET LOCAL enable_seqscan = off"),
            Statement("SET LOCAL jit = off"),
        ]
    }

    /// The transaction for another attempt after conflicts with other transactions.
    ///
    /// After a few of them, it runs alone. Otherwise, many others could prevent it for as long as they continue.
    func after(conflicts: Int) -> TransactionKind {
        guard case .ordered = self, conflicts >= Self.conflictLimit else { return self }
        return .ordered(.none)
    }

    private static let conflictLimit = 2

    /// Returns true if an error of an ordered commit, after a number of conflicts, is another conflict.
    ///
    /// It may have waited too long for those that run beside it, or alone. If two transactions insert one key and one
    /// of them has not looked for it first, PostgreSQL reports the key to the other instead of a conflict.
    func conflicts(by state: SQLState, after conflicts: Int) -> Bool {
        guard case .ordered = self else { return false }
        return state == .lockNotAvailable || (state == .uniqueViolation && conflicts == 0)
    }
}

/// A transaction under way, on the thread of its connection.
///
/// The parameters in the SQL are `$1`, `$2` and so on. `BEGIN` is sent together with the first statement, and `COMMIT`
/// together with the statements that still wait. Copies are the same transaction.
struct Transaction {
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
    func run(_ sql: String, _ values: (any ParameterValue)?...) throws -> Int { try run(sql, values: values) }

    @discardableResult
    func run(_ sql: String, values: [(any ParameterValue)?]) throws -> Int { try rows(sql, values).changes }

    /// Runs several statements in one round trip, and returns the rows of each.
    ///
    /// After an error of a statement, it throws this error and sends nothing, also if the closure has caught the error.
    /// Without a transaction block, a later statement would be committed alone.
    func runTogether(_ statements: [Statement]) throws -> [Rows] {
        guard !statements.isEmpty else { return [] }
        if let failure = progress.failure { throw failure }
        do {
            for statement in statements { try statement.check() }
            let before = progress.hasBegun ? progress.waiting : kind.opening + progress.waiting
            progress.waiting = []
            // After a failure, there may be a transaction block that waits for its ROLLBACK.
            if !kind.opening.isEmpty { progress.hasBegun = true }
            return Array(try connection.exchange(before + statements, by: deadline).dropFirst(before.count))
        } catch {
            throw failed(error)
        }
    }

    /// Sends a statement before the next one that has an answer, or with the end of the transaction.
    ///
    /// If it fails, the statement or the commit with which it is sent throws its error.
    func runLater(_ statement: Statement) throws {
        if let failure = progress.failure { throw failure }
        do { try statement.check() } catch { throw failed(error) }
        progress.waiting.append(statement)
        if progress.waiting.count >= Self.waitingLimit { _ = try runTogether([Statement("SELECT 1")]) }
    }

    /// The maximum number of statements that wait, which bounds their memory.
    private static let waitingLimit = 256

    /// Returns the first row of a query; nil if there is none.
    func first<Value>(
        _ sql: String, _ values: (any ParameterValue)?..., read: (inout Columns) throws -> Value
    ) throws -> Value? {
        try rows(sql, values).first(read)
    }

    func all<Value>(
        _ sql: String, _ values: (any ParameterValue)?..., read: (inout Columns) throws -> Value
    ) throws -> [Value] {
        try rows(sql, values).all(read)
    }

    func all<Value>(
        _ sql: String, values: [(any ParameterValue)?], read: (inout Columns) throws -> Value
    ) throws -> [Value] {
        try rows(sql, values).all(read)
    }

    /// Returns the columns of the first row as flags, for a query that tests several conditions at once.
    func answers(_ sql: String, _ values: (any ParameterValue)?...) throws -> [Bool] { try rows(sql, values).answers() }

    private func rows(_ sql: String, _ values: [(any ParameterValue)?]) throws -> Rows {
        try rows(of: Statement(sql, values: values))
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
                StoreFault.damaged("a transaction was rolled back because one of its statements had failed"))
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

extension Transaction: StatementRunner {
    /// Enough that the commits of several servers, each with a few connections, seldom choose the same row.
    var counterSlots: Int64 { 64 }

    func runLater(_ sql: String, _ parameters: [SQLParameter]) throws {
        try runLater(Statement(connection.numbered(sql), parameters: parameters.map(Parameter.init)))
    }

    /// The number of rows that are fetched beyond those that a list needs, because some may be left out of it.
    private static let reserve = 16

    func run(
        _ sql: String, _ parameters: [SQLParameter], expecting limit: Int?, read: (inout Columns) throws -> RowStep
    ) throws -> Int {
        let parameters = parameters.map(Parameter.init)
        guard let limit else {
            let rows = try rows(of: Statement(connection.numbered(sql), parameters: parameters))
            _ = try rows.forEach(read)
            return rows.changes
        }
        var offset = 0
        while true {
            let count = min(limit, 10_000) + Self.reserve
            let page = "\(connection.numbered(sql)) LIMIT \(count) OFFSET $\(parameters.count + 1)"
            let rows = try rows(of: Statement(page, parameters: parameters + [Parameter(.integer(Int64(offset)))]))
            guard try rows.forEach(read) == .next, rows.count == count else { return rows.changes }
            offset += count
        }
    }

    func runLast(_ sql: String, _ parameters: [SQLParameter], read: (inout Columns) throws -> RowStep) throws -> Int {
        let statement = Statement(connection.numbered(sql), parameters: parameters.map(Parameter.init))
        let changesMore = progress.hasBegun || !progress.waiting.isEmpty
        guard let rows = try runAndCommit([statement]).first else { throw Self.noResult }
        progress.isCommitted = changesMore || rows.changes > 0
        _ = try rows.forEach(read)
        return rows.changes
    }

    private func rows(of statement: Statement) throws -> Rows {
        guard let rows = try runTogether([statement]).first else { throw Self.noResult }
        return rows
    }

    private static let noResult = StoreFault.damaged("a statement has no result")
}
