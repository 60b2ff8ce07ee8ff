import CounterfoilProtocol
public import CounterfoilServer
import Foundation
import GRDB

extension SQLiteStore: AuditStore {
    /// Notes an event after all others.
    public func appendAudit(_ event: AuditEvent) async throws(StoreFault) {
        try await commits.commit { database in
            _ = try database.run(
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
    }

    /// The events that a query asks for, newest first.
    public func audit(_ query: AuditQuery) async throws(StoreFault) -> [AuditEntry] {
        try read { database in
            try database.all(
                """
                SELECT number, at, kind, outcome, person_id, client_id, grant_id, source, request_id, detail FROM audit
                WHERE (?1 IS NULL OR kind = ?1) AND (?2 IS NULL OR person_id = ?2) AND (?3 IS NULL OR client_id = ?3)
                    AND (?4 IS NULL OR at >= ?4) AND (?5 IS NULL OR number < ?5)
                ORDER BY number DESC LIMIT ?6
                """,
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
}

extension AuditEntry {
    fileprivate init(_ columns: inout Columns) throws {
        let number = Int(try columns.integer())
        let at = try columns.date()
        let kind = try columns.value(AuditEvent.Kind.init(rawValue:))
        let outcome = try columns.value(AuditEvent.Outcome.init(rawValue:))
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
