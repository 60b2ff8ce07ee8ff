import CounterfoilServer
import CounterfoilStore
import Foundation

/// The events of the audit log in text output.
enum AuditLine {
    /// Returns an event as one line of text, with its time in a time zone; nil for UTC.
    ///
    /// The fields have the names of those in the log of the server. A stranger can choose the `client_id` of an event,
    /// so it is escaped.
    static func text(of event: AdministrationRecord, in zone: TimeZone?) -> String {
        func shown(_ name: String) -> String? {
            event.text(name).map { String(VisibleText(of: $0.unicodeScalars.prefix(400)).scalars) }
        }
        let at = shown("at") ?? ""
        let time = zone.flatMap { zone in Moment.parse(at).map { Moment.text($0, in: zone) } } ?? at
        let outcome = shown("outcome") ?? ""
        let result = shown("reason").map { "\(outcome): \($0)" } ?? outcome
        let parts = [
            (shown("username") ?? shown("sub")).map { "user=\($0)" },
            event.text("client_id").map { "client_id=\(EscapedText($0))" },
            shown("source").map { "source=\($0)" } ?? origin(of: event),
            outcome == AuditEvent.Outcome.refused.rawValue ? shown("request_id").map { "request=\($0)" } : nil,
            shown("detail").map { "(\($0))" },
        ]
        return "\(time)  \(shown("kind") ?? "") \(result)  " + parts.compactMap(\.self).joined(separator: "  ")
    }

    /// Returns the words for an event that a command or the server itself caused; nil for a request, and for a deleted
    /// user, whose events do not show it.
    private static func origin(of event: AdministrationRecord) -> String? {
        let user = event.text("sub").flatMap { UserIdentifier($0) }
        guard event.text("source") == nil, event.text("request_id") == nil, user?.isPseudonym != true else {
            return nil
        }
        if event.text("detail")?.hasPrefix(AuditEvent.commandPrefix) == true { return "from a terminal" }
        return (event.text("detail") ?? event.text("reason")).map { _ in "by the server" }
    }
}
