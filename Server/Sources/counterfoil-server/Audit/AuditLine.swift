import CounterfoilServer
import CounterfoilStore
import Foundation

extension AuditDocument {
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
