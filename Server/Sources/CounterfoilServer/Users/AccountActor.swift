import CounterfoilProtocol
package import CounterfoilStore
import Foundation

/// The origin of a change of an account, as the audit log has it.
package enum AccountActor: Sendable {
    /// A command on the machine of the server.
    case command
    /// An administrator on a page, with the request that submitted the form.
    case administrator(UserIdentifier, IncomingRequest)

    /// Creates the events of a change of an account, for the commit of the change.
    ///
    /// An event has one user. A change by an administrator is therefore two events with the same request: one of the
    /// changed account, and one of the administrator. Only the latter has the source, because the user of the account
    /// can read the former. When one of the two users is deleted, the event of that user loses the request, so that the
    /// other event does not lead back to the deleted user.
    func events(
        _ kind: AuditEvent.Kind, _ action: AuditEvent.Action? = nil, of user: UserIdentifier, grant: Grant? = nil,
        detail: String, at time: Date
    ) -> [AuditEvent] {
        switch self {
        case .command:
            [
                AuditEvent(
                    at: time, kind, userID: user, clientID: grant?.clientID, grantID: grant?.id,
                    detail: AuditEvent.commandPrefix + detail, action: action)
            ]
        case .administrator(let administrator, let request):
            administrator == user
                ? [
                    AuditEvent(
                        at: time, kind, userID: user, clientID: grant?.clientID, grantID: grant?.id,
                        source: request.source, requestID: request.id, detail: detail, action: action)
                ]
                : [
                    AuditEvent(
                        at: time, kind, userID: user, clientID: grant?.clientID, grantID: grant?.id,
                        requestID: request.id, detail: AuditEvent.administratorPrefix + detail, action: action),
                    event(kind, ofOther: detail, by: administrator, request, at: time),
                ]
        }
    }

    /// Creates the events of the deletion of a user, of whom the log keeps the pseudonym alone.
    func events(
        ofDeletionOf user: UserIdentifier, as pseudonym: UserIdentifier, at time: Date
    ) -> [AuditEvent] {
        func deleted(_ detail: String) -> AuditEvent {
            AuditEvent(at: time, .account, userID: pseudonym, detail: detail, action: .userDeleted)
        }
        switch self {
        case .command: return [deleted(AuditEvent.commandPrefix + "deleted")]
        case .administrator(user, _): return [deleted("deleted")]
        case .administrator(let administrator, let request):
            return [
                deleted(AuditEvent.administratorPrefix + "deleted"),
                event(.account, ofOther: "deleted", by: administrator, request, at: time),
            ]
        }
    }

    /// Creates the events of the clients of a deleted user.
    func events(
        ofClients clients: [ClientIdentifier], of user: UserIdentifier, givenTo owner: UserIdentifier?, at time: Date
    ) -> [AuditEvent] {
        let detail = owner == nil ? "deleted with its owner" : "transferred from a deleted owner"
        let action: AuditEvent.Action? = owner == nil ? .clientDeleted : nil
        return clients.map { client in
            let event =
                switch self {
                case .command:
                    AuditEvent(
                        at: time, .client, userID: owner, clientID: client, detail: AuditEvent.commandPrefix + detail)
                case .administrator(user, _):
                    AuditEvent(at: time, .client, userID: owner, clientID: client, detail: detail)
                case .administrator(let administrator, let request):
                    AuditEvent(
                        at: time, .client, userID: owner ?? administrator, clientID: client, source: request.source,
                        requestID: request.id, detail: detail)
                }
            return event.named(action)
        }
    }

    private func event(
        _ kind: AuditEvent.Kind, ofOther detail: String, by administrator: UserIdentifier, _ request: IncomingRequest,
        at time: Date
    ) -> AuditEvent {
        AuditEvent(
            at: time, kind, userID: administrator, source: request.source, requestID: request.id,
            detail: AuditEvent.otherAccountPrefix + detail, action: .administrationActed)
    }
}
