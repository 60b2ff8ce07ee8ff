import CounterfoilProtocol
import CounterfoilStore
import Foundation

extension RegisteredClient {
    /// The client that the store adds with the first approval; nil if a client of this kind is always stored before.
    ///
    /// A client that registered itself is not added again: if it was deleted meanwhile, its secret was deleted, too.
    var storedOnApproval: RegisteredClient? {
        guard source.kind == .document else { return nil }
        var client = self
        client.defaultScope = nil
        return client
    }
}

extension ClientDirectory {
    /// The maximum number of clients that the approvals of one user can add within ``firstApprovalWindow``.
    static let firstApprovalLimit = 20
    /// The length of the window in seconds.
    static let firstApprovalWindow: TimeInterval = 3600

    /// Returns whether an approval is the first of its client, which the store then adds.
    ///
    /// - Throws: ``ApprovalThrottle/TooMany`` if the user has added ``firstApprovalLimit`` clients within
    ///   ``firstApprovalWindow``.
    func isFirst(_ approval: Approval, by request: IncomingRequest) async throws -> Bool {
        guard let client = approval.newClient, try await registry.fresh().client(client.id) == nil
        else { return false }
        let (user, now) = (approval.grant.userID, approval.grant.createdAt)
        do { try firstApprovals.note(user, now: now) } catch {
            await auditor.refuse(
                .throttled, because: .throttledUser, request, user: user, client: client.id,
                detail: "first approvals", now: now)
            throw error
        }
        return true
    }

    /// Returns the event of the addition of a client by an approval, which the store appends if it adds the client.
    func firstApprovalEvent(of grant: Grant, by request: IncomingRequest) -> AuditEvent {
        auditor.event(
            .client, by: request, user: grant.userID, client: grant.clientID,
            detail: "stored the client of a client document", now: grant.createdAt
        ).named(.clientCreated)
    }
}

extension Approval {
    /// Returns the events that the store has appended with the approval.
    func events(addingClient addsClient: Bool) -> [AuditEvent] {
        events + (addsClient ? [newClientEvent].compactMap(\.self) : [])
    }
}
