package import CounterfoilProtocol
package import CounterfoilStore
import Foundation

/// The origin of a change of an account, as the audit log has it.
package enum AccountActor: Sendable {
    /// A command on the machine of the server.
    case command
    /// A user with rights of the administration, as the store has the user at the request, and the request.
    case administrator(User, IncomingRequest)
    /// A client with a token for the administration API, for a user or without one, and the rights of the token.
    case token(user: User?, rights: HeldRights, client: ClientIdentifier, IncomingRequest)

    /// The rights by which a change is judged; nil for a command, which needs none.
    var rights: HeldRights? {
        switch self {
        case .command: nil
        case .administrator(let administrator, _): HeldRights(of: administrator.role)
        case .token(_, let rights, _, _): rights
        }
    }

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
        case .administrator(let administrator, let request), .token(let administrator?, _, _, let request):
            administrator.id == user
                ? [
                    AuditEvent(
                        at: time, kind, userID: user, clientID: grant?.clientID ?? client, grantID: grant?.id,
                        source: request.source, requestID: request.id, detail: detail, action: action)
                ]
                : eventsOfOther(
                    kind, action, of: user, grant: grant, detail: detail, by: administrator.id, request, at: time)
        case .token(nil, _, _, let request):
            eventsOfOther(kind, action, of: user, grant: grant, detail: detail, by: nil, request, at: time)
        }
    }

    /// The client that makes the change; nil for a command and a page.
    private var client: ClientIdentifier? {
        if case .token(_, _, let client, _) = self { client } else { nil }
    }

    private func eventsOfOther(
        _ kind: AuditEvent.Kind, _ action: AuditEvent.Action?, of user: UserIdentifier, grant: Grant?, detail: String,
        by administrator: UserIdentifier?, _ request: IncomingRequest, at time: Date
    ) -> [AuditEvent] {
        [
            AuditEvent(
                at: time, kind, userID: user, clientID: grant?.clientID, grantID: grant?.id, requestID: request.id,
                detail: AuditEvent.administratorPrefix + detail, action: action),
            event(kind, ofOther: detail, by: administrator, request, at: time),
        ]
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
        case .administrator(let administrator, _) where administrator.id == user,
            .token(let administrator?, _, _, _) where administrator.id == user:
            return [deleted("deleted")]
        case .administrator(let administrator, let request):
            return [
                deleted(AuditEvent.administratorPrefix + "deleted"),
                event(.account, ofOther: "deleted", by: administrator.id, request, at: time),
            ]
        case .token(let administrator, _, _, let request):
            return [
                deleted(AuditEvent.administratorPrefix + "deleted"),
                event(.account, ofOther: "deleted", by: administrator?.id, request, at: time),
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
                case .administrator(let administrator, _) where administrator.id == user,
                    .token(let administrator?, _, _, _) where administrator.id == user:
                    AuditEvent(at: time, .client, userID: owner, clientID: client, detail: detail)
                case .token(let administrator, _, _, let request):
                    AuditEvent(
                        at: time, .client, userID: owner ?? administrator?.id, clientID: client,
                        source: request.source, requestID: request.id, detail: detail)
                case .administrator(let administrator, let request):
                    AuditEvent(
                        at: time, .client, userID: owner ?? administrator.id, clientID: client,
                        source: request.source, requestID: request.id, detail: detail)
                }
            return event.named(action)
        }
    }

    private func event(
        _ kind: AuditEvent.Kind, ofOther detail: String, by administrator: UserIdentifier?, _ request: IncomingRequest,
        at time: Date
    ) -> AuditEvent {
        AuditEvent(
            at: time, kind, userID: administrator, clientID: client, source: request.source, requestID: request.id,
            detail: AuditEvent.otherAccountPrefix + detail, action: .administrationActed)
    }
}
