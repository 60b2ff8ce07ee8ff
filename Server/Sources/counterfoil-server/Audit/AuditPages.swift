import CounterfoilProtocol
import HTTPTypes

extension AdministrationTransport {
    /// Reads the events of the audit log that match a filter, and calls a function with each page of them.
    ///
    /// A page can be empty although more follow.
    ///
    /// - Parameters:
    ///   - filter: The parameters of the query.
    ///   - count: The maximum number of events; nil for all.
    func auditEvents(
        _ filter: [(name: String, value: String)], atMost count: Int = .max,
        _ body: ([AdministrationRecord]) throws -> Void
    ) async throws {
        var (left, cursor) = (count, String?.none)
        repeat {
            var query = FormParameters()
            for (name, value) in filter { query.append(name, value) }
            query.append("limit", String(min(200, left)))
            if let cursor { query.append("cursor", cursor) }
            let page = try await send(.get, "/audit-events?" + query.encoded, fields: [:], body: [])
                .record(options: AuditFilterOptions.parameterOptions)
            let events = page.records("items")
            try body(events)
            left -= events.count
            cursor = page.text("next")
        } while cursor != nil && left > 0
    }
}
