import CounterfoilProtocol
public import CounterfoilStore
public import Foundation

extension SQLStore {
    /// Appends an event to the audit log, and returns when the event is on the disk.
    public func appendAudit(_ event: AuditEvent) async throws(StoreFault) {
        try await commit { database in try database.append(event) }
    }

    /// Reads at most `AuditQuery.limit` events that match a query, and examines at most 10,000.
    public func searchAudit(_ query: AuditQuery) async throws(StoreFault) -> AuditSearch {
        try await read { database in
            var (query, end) = (query, AuditPosition?.none)
            if let last = query.lastExamined {
                end = try database.first(last, values: query.valuesOfLast, read: AuditPosition.init(_:))
                if let end { query.stop(at: end) }
            }
            let entries = try database.all(query.statement, values: query.values, read: AuditEntry.init(_:))
            return AuditSearch(
                entries: entries, rest: entries.count == query.limit ? entries.last?.position : end)
        }
    }

    /// Reads at most `limit` events after a position, oldest first; nil begins with the oldest event.
    public func auditLog(after position: AuditPosition?, limit: Int) async throws(StoreFault) -> [AuditEntry] {
        try await read { database in
            try database.all(
                AuditEntry.log, position?.microseconds ?? Int64.min, position?.number ?? 0, limit,
                read: AuditEntry.init(_:))
        }
    }

    /// Deletes the oldest events, up to and including a position and at most `rows`, and returns how many it deleted.
    ///
    /// Events that are newer than `AuditPosition.lastSettled` are kept. If `event` is given and an event is deleted,
    /// the store appends `event` in the same transaction.
    public func removeAudit(
        through position: AuditPosition, atMost rows: Int, recording event: AuditEvent?, with serverKey: ServerKey,
        at time: Date
    ) async throws(StoreFault) -> Int {
        let keys = AuditSealKeys(serverKey)
        return try await commit { database in
            // The trigger `audit_is_never_shortened` allows the deletion of events up to the position in the table
            // `audit_removal`. Outside this transaction, that table is empty.
            var last = min(position, .lastSettled(at: time))
            // If there are more events, the deletion ends with the last one that it may delete.
            let final = try database.first(
                AuditEntry.limit, last.microseconds, last.number, max(0, rows - 1), read: AuditPosition.init(_:))
            if let final { last = final }
            // The events show which seals belong to them.
            try database.removeSeals(through: last, with: keys)
            try database.send(
                "INSERT INTO audit_removal (through_at, through_number) VALUES (?, ?)", last.microseconds, last.number)
            let removed = try database.run(AuditEntry.removal, last.microseconds, last.number, rows)
            try database.send("DELETE FROM audit_removal")
            if let event, removed > 0 { try database.append(event) }
            return removed
        }
    }
}

extension SQLConnection {
    /// Appends the events of one commit.
    func append(_ events: [AuditEvent]) throws {
        for event in events { try append(event) }
    }

    /// Appends the events of a commit that has found a user.
    func append(_ events: [AuditEvent], ofExisting user: UserIdentifier) throws {
        for event in events {
            if event.userID == user { try insert(event) } else { try append(event) }
        }
    }

    /// Appends an event; if its user was deleted in the meantime, without what identifies the user.
    func append(_ event: AuditEvent) throws { try insert(try withoutDeletedUser(event)) }

    /// Appends an event as it is, and queues its notice.
    private func insert(_ event: AuditEvent) throws {
        try send(
            """
            INSERT INTO audit
                (at, kind, outcome, person_id, client_id, grant_id, source, request_id, detail, action)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            event.at.microseconds,
            event.kind.rawValue,
            event.outcome.rawValue,
            event.userID?.rawValue,
            event.clientID?.rawValue,
            event.grantID?.rawValue,
            event.source,
            event.requestID,
            event.detail,
            event.action?.rawValue
        )
        if let notice = event.notice, notice.userID == event.userID { try queue(notice) }
    }

    private func withoutDeletedUser(_ event: AuditEvent) throws -> AuditEvent {
        // A refusal without a user takes the same time, so that it does not reveal whether an account exists.
        guard event.userID != nil || event.outcome == .refused else { return event }
        let exists = try answers("SELECT EXISTS (SELECT 1 FROM people WHERE id = ?)", event.userID?.rawValue ?? "")
        guard let user = event.userID, !user.isPseudonym else { return event }
        guard exists != [true] else { return event }
        return try removedUser(user)?.pseudonymized(event) ?? event.withoutUser
    }
}

extension AuditQuery {
    /// Conditions with the values of their parameters.
    private typealias Conditions = [(sql: String, values: [any SQLValue])]

    /// The conditions by which an index leads to events, the one with the fewest events first.
    private var indexed: [(column: String, value: String)] {
        let columns = [
            ("request_id", requestID), ("source", source), ("person_id", userID?.rawValue),
            ("client_id", clientID?.rawValue), ("outcome", outcome == .refused ? outcome?.rawValue : nil),
            ("kind", kind?.rawValue),
        ]
        return columns.compactMap { column, value in value.map { (column, $0) } }
    }

    /// The condition of the index that the database is to use; empty for the index of the time.
    private var leading: Conditions {
        guard let first = indexed.first else { return [] }
        // The index of refusals has only them, which the statement must show.
        return first.column == "outcome" ? [("outcome = 'refused'", [])] : [("\(first.column) = ?", [first.value])]
    }

    /// The other conditions on columns, as expressions that belong to no index.
    private var others: Conditions {
        var columns = Array(indexed.dropFirst())
        if let outcome, outcome != .refused { columns.append(("outcome", outcome.rawValue)) }
        let marks = Array(repeating: "?", count: kinds.count).joined(separator: ", ")
        let ofKinds: Conditions = kinds.isEmpty ? [] : [("kind || '' IN (\(marks))", kinds.map(\.rawValue))]
        return columns.map { ("\($0.column) || '' = ?", [$0.value]) } + ofKinds
    }

    /// The conditions on the position.
    private var range: Conditions {
        let starts = [after, since.map { AuditPosition(at: $0, number: 0) }].compactMap(\.self)
        let ends = [before, until.map { AuditPosition(at: $0, number: 0) }].compactMap(\.self)
        return [
            starts.max().map { ("(at, number) > (?, ?)", [$0.microseconds, $0.number]) },
            ends.min().map { ("(at, number) < (?, ?)", [$0.microseconds, $0.number]) },
        ].compactMap(\.self)
    }

    private func statement(_ columns: String, _ conditions: Conditions, limit: String) -> String {
        let direction = order == .newestFirst ? "DESC" : "ASC"
        return """
            SELECT \(columns) FROM audit
            \(conditions.isEmpty ? "" : "WHERE " + conditions.map(\.sql).joined(separator: " AND "))
            ORDER BY at \(direction), number \(direction) \(limit)
            """
    }

    /// The SQL of the query.
    var statement: String { statement(AuditEntry.columns, leading + others + range, limit: "LIMIT ?") }

    /// The parameters of ``statement``.
    fileprivate var values: [any SQLValue] { (leading + others + range).flatMap(\.values) + [limit] }

    /// The SQL of the query for the last event that a search examines; nil if every event that the index leads to
    /// matches.
    var lastExamined: String? {
        others.isEmpty ? nil : statement("at, number", leading + range, limit: "LIMIT 1 OFFSET ?")
    }

    /// The parameters of ``lastExamined``.
    fileprivate var valuesOfLast: [any SQLValue] {
        (leading + range).flatMap(\.values) + [examined - 1]
    }

    /// Makes the event at a position the last one that can match.
    fileprivate mutating func stop(at position: AuditPosition) {
        switch order {
        case .newestFirst:
            after = AuditPosition(microseconds: position.microseconds, number: position.number - 1)
        case .oldestFirst:
            before = AuditPosition(microseconds: position.microseconds, number: position.number + 1)
        }
    }
}

extension AuditPosition {
    /// Reads the columns `at` and `number`.
    fileprivate init(_ columns: inout Columns) throws {
        self.init(microseconds: try columns.integer(), number: Int(try columns.integer()))
    }
}

extension AuditEntry {
    fileprivate static let columns =
        "number, at, kind, outcome, person_id, client_id, grant_id, source, request_id, detail, action"
    /// The query for ?3 events after the position with the time ?1 and the number ?2.
    static let log = "SELECT \(columns) FROM audit WHERE (at, number) > (?1, ?2) ORDER BY at, number LIMIT ?3"
    /// The query for the position of the oldest event but ?3, up to the position with the time ?1 and the number ?2.
    static let limit = """
        SELECT at, number FROM audit WHERE (at, number) <= (?1, ?2) ORDER BY at, number LIMIT 1 OFFSET ?3
        """
    /// The deletion of the oldest ?3 events up to the position with the time ?1 and the number ?2.
    static let removal = """
        DELETE FROM audit WHERE number IN (
            SELECT number FROM audit WHERE (at, number) <= (?1, ?2) ORDER BY at, number LIMIT ?3
        )
        """

    fileprivate init(_ columns: inout Columns) throws {
        let number = Int(try columns.integer())
        let at = try columns.date()
        let kind = AuditEvent.Kind(rawValue: try columns.text())
        let outcome = AuditEvent.Outcome(rawValue: try columns.text())
        self.init(
            number: number,
            event: AuditEvent(
                at: at,
                kind,
                outcome,
                userID: try columns.optionalValue(UserIdentifier.init(_:)),
                clientID: try columns.optionalValue(ClientIdentifier.init(_:)),
                grantID: try columns.optionalValue(GrantIdentifier.init(_:)),
                source: try columns.optionalText(),
                requestID: try columns.optionalText(),
                detail: try columns.optionalText(),
                action: try columns.optionalText().map(AuditEvent.Action.init(rawValue:))
            )
        )
    }
}
