/// A table with one row of counts for each client.
///
/// On a database with several writers, each client also has several rows in a second table, of which a commit updates
/// one. With a single row, the commits that count would wait for each other, and then run again. The counts of a client
/// are the sums of its rows in both tables. A version before the second table counts in the first one.
struct CounterTable: Sendable {
    let name: String
    /// The columns, without that of the slot.
    fileprivate let columns: String

    /// The table with the rows of the slots.
    fileprivate var slots: String { "\(name)_slots" }

    static let pkceExceptions = CounterTable(name: "pkce_exceptions", columns: "client_id, count, last_at")
    static let refreshStatistics = CounterTable(
        name: "refresh_statistics", columns: "client_id, repeats, reuses, last_reuse_at, revocations")
}

/// The row in which a commit counts something for a client, as parts of a statement.
struct CounterRow: Sendable {
    let table: String
    /// The number of the row among those of the client; nil if the table has one row for each client.
    private let slot: Int64?

    /// Chooses a row; another attempt of the same commit may choose another one.
    init(of counters: CounterTable, on connection: SQLConnection) {
        let count = connection.counterSlots
        slot = count > 1 ? Int64.random(in: 0..<count) : nil
        table = slot == nil ? counters.name : counters.slots
    }

    /// The columns of the primary key.
    var key: String { slot == nil ? "client_id" : "client_id, slot" }

    /// Returns the values of the primary key, of which the slot is the parameter after `count` others.
    ///
    /// - Parameters:
    ///   - client: The parameter or the column with the identifier of the client.
    ///   - count: The number of the other parameters.
    func keyValues(of client: String, after count: Int) -> String {
        slot == nil ? client : "\(client), ?\(count + 1)"
    }

    /// The value of the parameter with the slot, if there is one.
    var slotValues: [(any SQLValue)?] { slot.map { [$0] } ?? [] }
}

extension SQLConnection {
    /// Returns the SQL for all rows of a table of counts, as a table in a `FROM` clause.
    func rows(of counters: CounterTable) -> String {
        guard counterSlots > 1 else { return counters.name }
        return """
            (
                SELECT \(counters.columns) FROM \(counters.name)
                UNION ALL SELECT \(counters.columns) FROM \(counters.slots)
            ) AS counted
            """
    }
}
