import CounterfoilProtocol
public import CounterfoilServer
import Foundation
import GRDB

extension SQLiteStore: AuditStore {
    /// Appends an event to the audit log, and returns when the event is on the disk.
    public func appendAudit(_ event: AuditEvent) async throws(StoreFault) {
        try await commits.commit { database in try database.append(event) }
    }

    /// Reads at most `AuditQuery.limit` events that match a query, newest first.
    public func audit(_ query: AuditQuery) async throws(StoreFault) -> [AuditEntry] {
        try read { database in
            try database.all(
                query.statement,
                query.kind?.rawValue,
                query.personID?.rawValue,
                query.clientID?.rawValue,
                query.since?.microseconds,
                query.before,
                query.limit,
                read: AuditEntry.init(_:)
            )
        }
    }

    /// Reads at most `limit` events with a number greater than `number`, oldest first.
    public func auditLog(after number: Int, limit: Int) async throws(StoreFault) -> [AuditEntry] {
        try read { database in
            try database.all(
                "SELECT \(AuditEntry.columns) FROM audit WHERE number > ? ORDER BY number LIMIT ?", number, limit,
                read: AuditEntry.init(_:))
        }
    }

    /// Deletes the oldest events, up to and including `number` and at most `rows`, and returns how many it deleted.
    ///
    /// If `event` is given, it records the deletion, and the store appends it in the same transaction.
    public func removeAudit(
        through number: Int, atMost rows: Int, recording event: AuditEvent?
    ) async throws(StoreFault) -> Int {
        try await commits.commit { database in
            // `last` is the newest event before `event` is appended. The deletion stops at `last`, so it never deletes
            // `event`, even if `number` is larger.
            let last = try database.first("SELECT coalesce(max(number), 0) FROM audit") { try $0.integer() } ?? 0
            if let event { try database.append(event) }
            // The trigger `audit_is_never_shortened` allows the deletion of events up to the number in the table
            // `audit_removal`. Outside this transaction, that table is empty.
            try database.run("INSERT INTO audit_removal (through) VALUES (?)", min(Int64(number), last))
            let removed = try database.run(
                """
                DELETE FROM audit WHERE number IN (
                    SELECT number FROM audit WHERE number <= ?1 ORDER BY number LIMIT ?2
                )
                """, min(Int64(number), last), rows)
            try database.run("DELETE FROM audit_removal")
            return removed
        }
    }
}

extension Database {
    /// Appends an event; if its user was deleted in the meantime, without what identifies the user.
    func append(_ event: AuditEvent) throws {
        let event = try withoutDeletedPerson(event)
        try run(
            """
            INSERT INTO audit
                (at, kind, outcome, person_id, client_id, grant_id, source, request_id, detail)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            event.at.microseconds,
            event.kind.rawValue,
            event.outcome.rawValue,
            event.personID?.rawValue,
            event.clientID?.rawValue,
            event.grantID?.rawValue,
            event.source,
            event.requestID,
            event.detail
        )
    }

    private func withoutDeletedPerson(_ event: AuditEvent) throws -> AuditEvent {
        guard let person = event.personID, !person.isPseudonym else { return event }
        let exists = try answers("SELECT EXISTS (SELECT 1 FROM people WHERE id = ?)", person.rawValue)
        guard exists != [true] else { return event }
        return try removedPerson(person)?.pseudonymized(event) ?? event.withoutPerson
    }
}

extension AuditQuery {
    /// The SQL of the query, with only the conditions that are set, so that SQLite can use the index of a user, a
    /// client or a kind.
    var statement: String {
        let conditions = [
            kind == nil ? nil : "kind = ?1", personID == nil ? nil : "person_id = ?2",
            clientID == nil ? nil : "client_id = ?3", since == nil ? nil : "at >= ?4",
            before == nil ? nil : "number < ?5",
        ].compactMap(\.self)
        return """
            SELECT \(AuditEntry.columns) FROM audit
            \(conditions.isEmpty ? "" : "WHERE " + conditions.joined(separator: " AND "))
            ORDER BY number DESC LIMIT ?6
            """
    }
}

extension AuditEntry {
    fileprivate static let columns =
        "number, at, kind, outcome, person_id, client_id, grant_id, source, request_id, detail"

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
                personID: try columns.optionalValue(PersonIdentifier.init(_:)),
                clientID: try columns.optionalValue(ClientIdentifier.init(_:)),
                grantID: try columns.optionalValue(GrantIdentifier.init(_:)),
                source: try columns.optionalText(),
                requestID: try columns.optionalText(),
                detail: try columns.optionalText()
            )
        )
    }
}
