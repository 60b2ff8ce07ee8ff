/// A SQLSTATE, the cause of an error (PostgreSQL documentation, appendix A).
package struct SQLState: Sendable, Hashable, CustomStringConvertible {
    package let code: String

    init(_ code: String) { self.code = code }

    package var description: String { code }

    /// The first two characters, which name a class of errors.
    private var family: Substring { code.prefix(2) }

    package static let uniqueViolation = SQLState("23505")
    package static let lockNotAvailable = SQLState("55P03")
    package static let duplicateTable = SQLState("42P07")
    package static let undefinedColumn = SQLState("42703")
    package static let insufficientPrivilege = SQLState("42501")
    static let readOnlyTransaction = SQLState("25006")
    static let tooManyConnections = SQLState("53300")
    static let unknownStatement = SQLState("26000")
    static let duplicateStatement = SQLState("42P05")

    /// Whether the same transaction can succeed if it is run again: a serialization failure or a deadlock.
    package var allowsRepetition: Bool { ["40001", "40P01"].contains(code) }

    /// Whether the result of the transaction is unknown though there was an answer.
    ///
    /// PostgreSQL does not send these two. A pooler or a distributed database can.
    var leavesCommitUnknown: Bool { ["40003", "08007"].contains(code) }

    /// Whether the answer shows that the connection ends or is useless.
    var endsConnection: Bool { family == "08" || ["57P01", "57P02", "57P03", "57P05"].contains(code) }

    /// Whether the server behind every connection is ending, or is a standby.
    var endsEveryConnection: Bool {
        code == "25006" || family == "08" || ["57P01", "57P02", "57P03"].contains(code)
    }

    /// Whether a pooler has handed the connection to another session of the database.
    var showsPooler: Bool { self == .unknownStatement || self == .duplicateStatement }

    /// Whether the cause may pass without an operator, or without a change of data or schema.
    package var isPassing: Bool {
        switch family {
        // Connections; resources, such as the disk or the number of connections; errors of the operating system.
        case "08", "53", "58": true
        // Rolled back by the server: serialization failure, deadlock and others.
        case "40": true
        // 57014: cancelled, by a timeout. 57P: the server stops, starts or crashed.
        case "57": true
        // A lock was not available in time. Object in use.
        case "55": code == "55P03" || code == "55006"
        // Read-only; a transaction or session that timed out.
        case "25": ["25006", "25P03", "25P04"].contains(code)
        // A prepared statement that is missing: the next connection prepares it.
        case "26": true
        default: code == "42P05"
        }
    }
}

/// An error that PostgreSQL has answered.
package struct ServerError: Error, Sendable, Hashable, CustomStringConvertible {
    package let state: SQLState
    /// The message without DETAIL, CONTEXT and values.
    let message: String
    /// The name of the violated constraint, if there is one.
    let constraint: String?
    /// Whether the server ends the connection (FATAL or PANIC).
    let isFatal: Bool
    /// Whether the schema has changed since the connection prepared the statement (`cached plan must not change result
    /// type`).
    let hasStalePlan: Bool

    init(
        state: SQLState, message: String, constraint: String? = nil, isFatal: Bool = false, hasStalePlan: Bool = false
    ) {
        self.state = state
        // The messages of class 22 quote the invalid value.
        self.message = state.code.hasPrefix("22") ? "a value is invalid" : String(message.prefix(300))
        self.constraint = constraint
        self.isFatal = isFatal
        self.hasStalePlan = hasStalePlan
    }

    package var description: String {
        let constraint = constraint.map { " (constraint \($0))" } ?? ""
        let advice =
            state.showsPooler
            ? "; a pooler in transaction mode causes this: use PgBouncer 1.21 or later with max_prepared_statements"
            : ""
        return "PostgreSQL error \(state), \(message)\(constraint)\(advice)"
    }

    /// Whether the prepared statements of the connection differ from what this process has noted of them.
    ///
    /// A new connection has none. This one would fail with every further statement.
    var needsNewConnection: Bool { state.showsPooler || hasStalePlan }

    /// The fault of a request that this error has ended, and that has changed nothing.
    package var fault: DatabaseFault { state.isPassing ? .unavailable(description) : .failed(description) }
}
