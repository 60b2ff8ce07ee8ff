import CounterfoilProtocol
import CounterfoilSQL
import CounterfoilServer
import CounterfoilStore
import Foundation

/// An audit event in the output of `--json` and in an export.
struct AuditDocument: Encodable {
    let number: Int
    let position: String
    let at: String
    let kind: String
    let outcome: String
    let reason: String?
    let sub: String?
    let username: String?
    let clientID: String?
    let grantID: String?
    let source: String?
    let requestID: String?
    let detail: String?

    /// Only the text shows it.
    private let origin: String?
    private let moment: Date

    private enum CodingKeys: String, CodingKey {
        case number, position, at, kind, outcome, reason, sub, username, source, detail
        case clientID = "client_id"
        case grantID = "grant_id"
        case requestID = "request_id"
    }

    /// Converts entries, with the user names of those accounts that still exist.
    static func documents(
        of entries: [AuditEntry], in store: any SQLStore
    ) async throws(StoreFault) -> [AuditDocument] {
        var names: [UserIdentifier: String] = [:]
        for id in Set(entries.compactMap(\.event.userID)) {
            let user = try await StoreFault.supported { () async throws(StoreFault) in try await store.user(id) }
            names[id] = user?.username.rawValue
        }
        return entries.map { AuditDocument($0, names: names) }
    }

    init(_ entry: AuditEntry, names: [UserIdentifier: String]) {
        let event = entry.event
        number = entry.number
        position = "\(entry.position)"
        at = Moment.text(event.at)
        kind = event.kind.rawValue
        outcome = event.outcome.rawValue
        reason = event.reason?.rawValue
        sub = event.userID?.rawValue
        username = event.userID.flatMap { names[$0] }
        clientID = event.clientID?.rawValue
        grantID = event.grantID?.rawValue
        source = event.source
        requestID = event.requestID
        detail = event.explanation
        moment = event.at
        origin = event.isFromCommand ? "from a terminal" : event.isFromServer ? "by the server" : nil
    }

    /// Returns the event as one line of text, with its time in a time zone; nil for UTC.
    ///
    /// The fields have the names of those in the log of the server. A stranger can choose the `client_id` of an event,
    /// so it is escaped.
    func words(in zone: TimeZone?) -> String {
        let time = zone.map { Moment.text(moment, in: $0) } ?? at
        let result = reason.map { "\(outcome): \($0)" } ?? outcome
        let parts = [
            (username ?? sub).map { "user=\($0)" },
            clientID.map { "client_id=\(EscapedText($0))" },
            source.map { "source=\($0)" } ?? origin,
            outcome == AuditEvent.Outcome.refused.rawValue ? requestID.map { "request=\($0)" } : nil,
            detail.map { "(\($0))" },
        ]
        return "\(time)  \(kind) \(result)  " + parts.compactMap(\.self).joined(separator: "  ")
    }
}
