@_spi(Counterfoil) import CounterfoilProtocol
import Foundation

/// Finds out whether a commit may have ended something, by its statements.
///
/// A commit that ends nothing, such as a refresh, then costs no query and no flush. A statement that is not recognized
/// loses nothing: the triggers of the database record what it ends, and the next minute writes it to the journal.
final class EndingWatch: Sendable {
    private let state = Mutex(false)
    private let statements: EndingStatements

    init(_ statements: EndingStatements) { self.statements = statements }

    /// Whether a statement so far can end something.
    var mayHaveEnded: Bool { state.withLock { $0 } }

    fileprivate func note(_ sql: String) {
        if statements.canEnd(sql) { state.withLock { $0 = true } }
    }
}

/// The statements of a store, each with whether it can end something.
package final class EndingStatements: Sendable {
    private let known = Mutex<[String: Bool]>([:])
    private let patterns: [String]

    /// Creates the statements that can end something, or only those that usually do.
    package init(onlyUsual: Bool = false) { patterns = onlyUsual ? Self.usual : Self.usual + Self.possible }

    package func canEnd(_ sql: String) -> Bool {
        if let answer = known.withLock({ $0[sql] }) { return answer }
        let answer = judge(sql)
        known.withLock { known in
            // There are few different statements; the limit is for those with lists of values.
            if known.count < 2000 { known[sql] = answer }
        }
        return answer
    }

    /// Returns true if a statement changes something on which a trigger of ``EndingTrigger`` may act.
    private func judge(_ sql: String) -> Bool {
        let words = sql.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return patterns.contains { words.contains($0) }
    }

    private static let usual =
        [
            "sessions", "people", "consents", "clients", "client_secrets", "initial_access_tokens", "resources",
            "scopes", "signing_keys",
        ].map { "DELETE FROM \($0)" } + [
            "UPDATE grants SET revoked_at", "UPDATE grants SET scope",
        ]
    private static let possible = [
        "UPDATE people", "UPDATE clients", "UPDATE resources", "unregistered_client_policy", "SET remembered",
        "remembered = excluded",
    ]
}

/// A runner that shows each statement to a watch.
struct WatchedRunner: StatementRunner {
    let runner: any StatementRunner
    let watch: EndingWatch

    var counterSlots: Int64 { runner.counterSlots }

    func run(
        _ sql: String, _ parameters: [SQLParameter], expecting limit: Int?, read: (inout Columns) throws -> RowStep
    ) throws -> Int {
        watch.note(sql)
        return try runner.run(sql, parameters, expecting: limit, read: read)
    }

    func runLater(_ sql: String, _ parameters: [SQLParameter]) throws {
        watch.note(sql)
        try runner.runLater(sql, parameters)
    }

    func runLast(_ sql: String, _ parameters: [SQLParameter], read: (inout Columns) throws -> RowStep) throws -> Int {
        watch.note(sql)
        return try runner.runLast(sql, parameters, read: read)
    }
}
