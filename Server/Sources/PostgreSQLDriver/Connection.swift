import CLibPQ
import Foundation

/// An error that leaves a connection unusable.
package struct ConnectionLoss: Error, Sendable, CustomStringConvertible {
    /// The reason that the log shows.
    package let reason: String
    /// Whether libpq had the end of the transaction to send, so that the server may have committed it.
    let isAfterEnd: Bool

    package var description: String { reason }
}

/// A connection of libpq, in pipeline mode, for the one thread that opened it.
///
/// It is not `Sendable`. It waits with `poll` until a deadline and then closes itself. It never sends a cancel request,
/// because a cancelled commit can be reported as a success before a standby has it.
package final class Connection {
    private let handle: OpaquePointer
    private let notices: NoticeRecord
    private var prepared = PreparedStatements()
    private var numberedStatements: [String: String] = [:]
    private var isOpen = true
    /// Whether an answer has shown that other connections are useless, too.
    private(set) var makesOthersUseless = false

    /// Takes over a connection that libpq has established, and closes it with its last reference.
    init(taking handle: OpaquePointer, notices: NoticeRecord) {
        self.handle = handle
        self.notices = notices
        PQsetnonblocking(handle, 1)
        PQenterPipelineMode(handle)
    }

    deinit { close() }

    /// Whether the connection can take another request.
    package var isUsable: Bool { isOpen && PQstatus(handle) == CONNECTION_OK }

    /// The process that libpq takes for the server process of this connection; a pooler invents one.
    var processIdentifier: Int64 { isOpen ? Int64(PQbackendPID(handle)) : 0 }

    /// Returns a parameter that the server has reported, such as `client_encoding`.
    func reported(_ name: String) -> String? {
        isOpen ? PQparameterStatus(handle, name).map { String(cString: $0) } : nil
    }

    package func close() {
        guard isOpen else { return }
        isOpen = false
        PQfinish(handle)
    }

    /// Looks without waiting whether the server has ended the connection since the last answer.
    ///
    /// - Throws: ``ConnectionLoss``, with nothing sent.
    func checkIdle() throws(ConnectionLoss) {
        // The first read can return a last message of the server, and the next one the end of the stream.
        for _ in 0..<4 {
            guard isUsable else { throw lost("the connection was closed", isAfterEnd: false) }
            guard SocketWait.isReadable(PQsocket(handle)) else { return }
            guard PQconsumeInput(handle) == 1 else {
                throw lost("the server has closed the connection", isAfterEnd: false)
            }
        }
    }

    /// Sends statements in one round trip and returns the rows of each.
    ///
    /// Outside of a transaction block, the statements are one transaction, and it is committed when this returns.
    ///
    /// - Parameters:
    ///   - statements: The statements, each prepared at its first use.
    ///   - deadline: The time at which the connection is closed if the answer is incomplete.
    /// - Throws: ``ServerError`` if the server has answered an error: the transaction has changed nothing, and the
    ///   connection can be used. ``ConnectionLoss`` if the connection cannot be used any more. ``DatabaseFault`` if a
    ///   parameter cannot be sent, or if the deadline has passed: nothing was sent.
    package func exchange(_ statements: [Statement], by deadline: ContinuousClock.Instant) throws -> [Rows] {
        for statement in statements { try statement.check() }
        guard isUsable else { throw lost("the connection was closed", isAfterEnd: false) }
        guard deadline > .now else { throw DatabaseFault.unavailable("the deadline has passed") }
        notices.startRequest()
        let steps = try send(statements)
        // From here on, libpq can have sent the end of the transaction.
        guard PQpipelineSync(handle) == 1 else { throw lost("cannot send", isAfterEnd: true) }
        return try receive(steps, by: deadline)
    }

    /// Returns a statement with the parameters `?` as one with those of PostgreSQL.
    package func numbered(_ sql: String) -> String {
        if let known = numberedStatements[sql] { return known }
        let numbered = Statement.numbered(sql)
        numberedStatements[sql] = numbered
        return numbered
    }

    /// A request to the server; they are answered in this order.
    private enum Step {
        case prepare(PreparedStatements.Key, name: String)
        case execute
    }

    /// Gives the statements to libpq; the server does not end their transaction before `PQpipelineSync`.
    private func send(_ statements: [Statement]) throws -> [Step] {
        var steps: [Step] = []
        var added: [PreparedStatements.Key: String] = [:]
        for statement in statements {
            let key = statement.key
            let known = prepared.name(key) ?? added[key]
            let name = known ?? key.name
            if known == nil {
                guard PQsendPrepare(handle, name, statement.sql, Int32(key.types.count), key.types) == 1 else {
                    throw lost("cannot send", isAfterEnd: false)
                }
                added[key] = name
                steps.append(.prepare(key, name: name))
            }
            let isSent = statement.withPointers { count, values, lengths, formats in
                PQsendQueryPrepared(handle, name, count, values, lengths, formats, 1)
            }
            guard isSent == 1 else { throw lost("cannot send", isAfterEnd: false) }
            steps.append(.execute)
        }
        return steps
    }

    private func receive(_ steps: [Step], by deadline: ContinuousClock.Instant) throws -> [Rows] {
        try flush(by: deadline)
        var rows: [Rows] = []
        var failure: ServerError?
        var finished = 0
        var emptyAnswers = 0
        while true {
            guard let result = try nextResult(by: deadline) else {
                // libpq marks the end of each statement with one empty answer, and returns nothing else without a
                // connection.
                emptyAnswers += 1
                finished += 1
                guard emptyAnswers < 3 else { throw lost("libpq has no further answer", isAfterEnd: true) }
                continue
            }
            emptyAnswers = 0
            let status = PQresultStatus(result)
            switch status {
            case PGRES_PIPELINE_SYNC:
                PQclear(result)
                if let failure { throw failure }
                guard rows.count == steps.count(where: { if case .execute = $0 { true } else { false } }) else {
                    throw lost("the answer is incomplete", isAfterEnd: true)
                }
                return rows
            case PGRES_TUPLES_OK, PGRES_COMMAND_OK:
                if steps.indices.contains(finished), case .prepare(let key, let name) = steps[finished] {
                    prepared.add(key, name: name)
                    PQclear(result)
                } else {
                    rows.append(Rows(taking: result, notices: notices))
                }
            case PGRES_PIPELINE_ABORTED:
                PQclear(result)
            default:
                let error = ServerError(result)
                PQclear(result)
                try note(error)
                // The first error is the cause.
                failure = failure ?? error
            }
        }
    }

    /// Judges an error that the server has sent; throws if the connection cannot be used after it.
    private func note(_ error: ServerError) throws(ConnectionLoss) {
        if error.state.endsEveryConnection || error.hasStalePlan { makesOthersUseless = true }
        if error.state.showsPooler { prepared.removeAll() }
        // A server process that ends may do so between the commit and its answer.
        if error.isFatal || error.state.endsConnection || PQstatus(handle) != CONNECTION_OK {
            throw lost(error.description, isAfterEnd: true)
        }
    }

    private func nextResult(by deadline: ContinuousClock.Instant) throws(ConnectionLoss) -> OpaquePointer? {
        while PQisBusy(handle) == 1 {
            try wait(for: .reading, by: deadline)
            guard PQconsumeInput(handle) == 1 else { throw lost(message, isAfterEnd: true) }
        }
        return PQgetResult(handle)
    }

    private func flush(by deadline: ContinuousClock.Instant) throws(ConnectionLoss) {
        while true {
            switch PQflush(handle) {
            case 0: return
            case 1:
                // The server may send meanwhile, and stop reading until its answer is read.
                let readable = try wait(for: .both, by: deadline)
                guard !readable || PQconsumeInput(handle) == 1 else { throw lost(message, isAfterEnd: true) }
            default: throw lost(message, isAfterEnd: true)
            }
        }
    }

    @discardableResult
    private func wait(
        for events: SocketWait.Events, by deadline: ContinuousClock.Instant
    ) throws(ConnectionLoss) -> Bool {
        switch SocketWait.wait(PQsocket(handle), for: events, until: deadline) {
        case .ready(let isReadable): return isReadable
        case .timedOut: throw lost("no answer before the deadline", isAfterEnd: true)
        case .failed: throw lost("the connection was closed", isAfterEnd: true)
        }
    }

    /// The messages of the level INFO since ``beginTransaction()``.
    var infos: Set<String> { notices.infos }

    func beginTransaction() { notices.startTransaction() }

    /// Whether a commit of the last request was acknowledged without the standbys that should have it.
    package var skippedReplication: Bool { notices.skippedReplication }

    /// Closes the connection and returns the error with the reason.
    private func lost(_ reason: String, isAfterEnd: Bool) -> ConnectionLoss {
        close()
        return ConnectionLoss(reason: reason, isAfterEnd: isAfterEnd)
    }

    private var message: String { LibPQText.line(PQerrorMessage(handle)) }
}

extension ServerError {
    /// Reads the error of a result without its DETAIL and CONTEXT, which can contain values.
    fileprivate init(_ result: OpaquePointer) {
        func field(_ code: Character) -> String? {
            PQresultErrorField(result, Int32(code.asciiValue ?? 0)).map { LibPQText.line($0) }
        }
        let severity = field("V") ?? field("S")
        self.init(
            // libpq reports a lost connection without a SQLSTATE.
            state: SQLState(field("C") ?? "08006"),
            message: field("M") ?? LibPQText.line(PQresultErrorMessage(result)),
            constraint: field("n"),
            isFatal: severity == "FATAL" || severity == "PANIC",
            // The language of the message is that of the server; the name of the function is always the same.
            hasStalePlan: field("C") == "0A000" && field("R") == "RevalidateCachedQuery"
        )
    }
}

/// Texts of libpq.
enum LibPQText {
    /// Returns a text of several lines as one line, without a space at its end.
    static func line(_ text: UnsafePointer<CChar>?) -> String {
        guard let text else { return "" }
        return String(cString: text).split(whereSeparator: \.isNewline)
            .map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }.joined(separator: "; ")
    }
}
