@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilStore
import Logging

/// The refusal of a request, for the audit log, and for the log line and the page of the same request.
///
/// A page shows the reference of the request only with such a refusal. Within the rate limit of the audit log, the
/// reference leads to an event; beyond it, only to the log line, which then has the level `info`.
final class RequestRefusal: Sendable {
    struct Entry: Sendable {
        let reason: AuditEvent.Reason
        let userID: UserIdentifier?
        let clientID: ClientIdentifier?
        /// Whether the rate limit of the audit log admitted the event; the log line then has the level `notice`.
        let isRecorded: Bool

        /// The fields of the log line.
        var metadata: Logger.Metadata {
            var metadata: Logger.Metadata = ["reason": "\(reason.rawValue)"]
            if let userID { metadata["user"] = "\(userID)" }
            if let clientID { metadata["client_id"] = "\(EscapedText(clientID.rawValue))" }
            return metadata
        }
    }

    private let state = Mutex<Entry?>(nil)

    var entry: Entry? { state.withLock(\.self) }

    /// Keeps the refusal of an event if it is the first of the request, which says more than one that follows from it.
    ///
    /// - Parameter reason: The reason of the event; nil for the one in its detail.
    func note(_ event: AuditEvent, because reason: AuditEvent.Reason? = nil, isRecorded: Bool) {
        guard let reason = reason ?? event.reason else { return }
        let entry = Entry(
            reason: reason, userID: event.userID, clientID: event.clientID, isRecorded: isRecorded)
        state.withLock { $0 = $0 ?? entry }
    }
}
