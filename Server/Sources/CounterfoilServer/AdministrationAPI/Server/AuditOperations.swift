import CounterfoilStore
import Foundation
import HTTPTypes

extension AdministrationOperation {
    /// The operations on the audit log.
    static let audit: [AdministrationOperation] = [
        AdministrationOperation(
            "listAuditEvents", .get, "/audit-events", .readAudit,
            query: AuditFilter.Field.allCases.map(\.rawValue) + ["before", "settled", "sort", "limit", "cursor"],
            answer: .list(AuditDocument.self), Audit.list)
    ]
}

private enum Audit {
    /// Returns the events that match; a page can have fewer than its limit although more follow.
    static func list(_ call: AdministrationCall) async throws -> AdministrationAnswer {
        let cursor = ListCursor(call, list: "audit-events")
        var texts: [AuditFilter.Field: String] = [:]
        for field in AuditFilter.Field.allCases { texts[field] = call.query.text(field.rawValue) }
        var filter = AuditFilter(texts, at: call.now, in: .gmt, limit: try call.query.limit())
        try await filter.findUser(in: call.store)
        guard filter.problems.isEmpty else {
            throw ProblemError.refusedParameters(
                filter.problems.map { .parameter($0.field.rawValue, Self.rule($0)) })
        }
        var query = filter.query
        query.order =
            try call.query.value("sort", rule: "It must be newest or oldest.") {
                ["newest": .newestFirst, "oldest": .oldestFirst][$0]
            } ?? .newestFirst
        query.before = try call.query.value("before", rule: "It must be the position of an event.") {
            AuditPosition($0)
        }
        if try call.query.flag("settled") == true {
            let settled = AuditPosition.lastSettled(at: call.now)
            query.before = min(query.before ?? settled, settled)
        }
        if let position = try cursor.position(in: call.query).flatMap({ AuditPosition($0) }) {
            query.proceed(from: position)
        }
        let found = try await call.store.searchAudit(query)
        let documents = try await AuditDocument.documents(of: found.entries, in: call.store)
        return try AdministrationAnswer(list: documents, next: try found.rest.map { try cursor.text(after: "\($0)") })
    }

    private static func rule(_ problem: AuditFilter.Problem) -> String {
        switch problem {
        case .unknownUser: return "There is no user with the name."
        case .emptyPeriod: return "It must be a later time than since."
        case .invalid(let field):
            switch field {
            case .kind: return "It must be a kind of event."
            case .outcome:
                return "It must be one of \(AuditEvent.Outcome.allCases.map(\.rawValue).joined(separator: ", "))."
            case .person: return "It must be a username, or the pseudonym of a deleted user."
            case .client: return "It must be a client_id."
            case .source: return "It must be an IP address, such as 203.0.113.7 or 2001:db8::1."
            case .request: return "It must be a whole reference: 1 to 64 letters, digits and - . _ : = + /"
            case .since, .until: return "It must be \(Moment.searchForms)."
            }
        }
    }
}

extension AuditDocument: AdministrationDocument {
    typealias Member = CodingKeys
}
