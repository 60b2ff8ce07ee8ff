@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilStore
import Foundation
package import HTTPTypes

extension AdministrationOperation {
    /// The operation that reads the events for other systems.
    static let events: [AdministrationOperation] = [
        AdministrationOperation(
            "listEvents", .get, "/events", .readEvents, query: ["after", "since", "types", "limit", "wait"],
            answer: .lines(EventDocument.self), Events.list)
    ]
}

/// The header fields of an answer with events.
package enum EventFields {
    /// The value of the parameter `after` for the next request, also beyond events of other types.
    package static let cursor = HTTPField.Name("Events-Cursor")
    /// Whether more events may be there already.
    package static let more = HTTPField.Name("Events-More")
    /// The last position of the events that were deleted before they were read; absent if none was.
    package static let missedThrough = HTTPField.Name("Events-Missed-Through")

    static let all = [cursor, more, missedThrough].compactMap(\.self)
}

private enum Events {
    /// The longest wait for an event, in seconds: less than ``RequestContext/timeLimit``.
    private static let longestWait = 3

    /// Returns the events after a position, one on each line; waits for the first one if the client asks for it.
    ///
    /// An answer ends after one page, and no client gets events on the ground of a former judgement: each request is
    /// judged by its token, and one that has waited is judged again.
    static func list(_ call: AdministrationCall) async throws -> AdministrationAnswer {
        let query = call.query
        let types = try query.value("types", rule: "It must have names of event types, separated by spaces.") { text in
            let names = text.split(separator: " ").map(String.init)
            return !names.isEmpty && names.allSatisfy { EventType(known: $0) != nil } ? Set(names) : nil
        }
        let limit =
            try query.value("limit", rule: "It must be an integer from 1 to \(EventReader.page).") {
                number($0, in: 1...EventReader.page)
            } ?? EventReader.page
        let wait =
            try query.value("wait", rule: "It must be an integer from 0 to \(longestWait).") {
                number($0, in: 0...longestWait)
            } ?? 0
        let cursor = try await start(call)
        let reader = call.components.events
        var page = try await reader.read(after: cursor, types: types ?? [], limit: limit)
        if wait > 0, page.events.isEmpty {
            let missed = page.missedThrough
            page = try await waiting(call) {
                try await reader.read(after: page.cursor, types: types ?? [], limit: limit, waiting: .seconds(wait))
            }
            page.missedThrough = page.missedThrough ?? missed
        }
        return try AdministrationAnswer(events: page)
    }

    /// Returns what a request reads while it waits, and judges its token again.
    private static func waiting(
        _ call: AdministrationCall, _ read: () async throws -> EventReader.Page
    ) async throws -> EventReader.Page {
        let waits = call.components.throttles.eventWaits
        call.request.context.noteWait()
        guard let page = try await waits.admit(call.party, read) else {
            throw ProblemError(
                .tooManyRequests, "too-many-waiting",
                "\(waits.limit) requests of the user, or of the client without a user, wait for events already.",
                fields: [.retryAfter: "1"])
        }
        try await AdministrationAccess(call.components).confirm(call.caller, for: .readEvents)
        return page
    }

    /// Returns the position after which the client wants to read.
    private static func start(_ call: AdministrationCall) async throws -> Int {
        let query = call.query
        let after = try query.value("after", rule: "It must be the cursor of an event, or end.") { text in
            text == "end" ? Int.max : number(text, in: 0...(.max - 1))
        }
        let since = try query.value("since", rule: "It must be \(Moment.searchForms).") {
            Moment.parse($0, at: call.now, in: .gmt)
        }
        guard after == nil || since == nil else {
            throw ProblemError.refusedParameters([.parameter("after", "It cannot be combined with since.")])
        }
        if let since { return try await call.components.events.cursor(since: since) }
        guard let after, after > 0 else { return 0 }
        let end = try await call.components.events.end()
        guard after <= end || after == .max else {
            throw ProblemError.refusedParameters([
                .parameter(
                    "after",
                    "No event has this cursor yet; the last one is \(end). After a restore from a copy, begin with "
                        + "since.")
            ])
        }
        return min(after, end)
    }

    private static func number(_ text: String, in range: ClosedRange<Int>) -> Int? {
        text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(text).flatMap { range.contains($0) ? $0 : nil } : nil
    }
}

extension EventDocument: AdministrationDocument {
    typealias Member = CodingKeys
}

extension AdministrationAnswer {
    /// Creates an answer with events, one on each line.
    fileprivate init(events page: EventReader.Page) throws {
        self.init(lines: try page.lines)
        if let name = EventFields.cursor { fields[name] = String(page.cursor) }
        if let name = EventFields.more { fields[name] = String(page.hasMore) }
        if let name = EventFields.missedThrough, let missed = page.missedThrough { fields[name] = String(missed) }
    }
}
