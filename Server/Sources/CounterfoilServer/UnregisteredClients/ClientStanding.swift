import CounterfoilProtocol
import CounterfoilStore
import HTTPTypes

/// The error for a client that the administrators have suspended, or have not approved yet.
///
/// It is shown on a page and never redirected to the client, because its redirect URI may be the reason.
enum ClientStandingError: Error {
    case suspended(DisplayName)
    case pending(DisplayName)
}

extension ClientStandingError: Refusing {
    var refusal: Refusal {
        switch self {
        case .suspended(let client):
            Refusal(
                .badRequest, .unauthorizedClient, .clientSuspended, ["application": .name(client)],
                description: "the administrators of this server have suspended the client; its developer finds the "
                    + "reason in the registration")
        case .pending(let client):
            Refusal(
                .badRequest, .unauthorizedClient, .clientPending, ["application": .name(client)],
                description: "the client waits for the approval of an administrator of this server")
        }
    }
}

extension RegisteredClient {
    /// Throws if the client may not take part in a phase of the protocol.
    ///
    /// Each endpoint of the protocol calls it for the client that it has found in the ``ClientDirectory``. A suspension
    /// stops everything that gives access. A missing approval stops only what begins, so that users keep what they
    /// allowed before the client changed.
    func checkStanding(on phase: ClientDirectory.RequestPhase) throws(ClientStandingError) {
        switch phase {
        case .ending: return
        case .beginning, .continuing, .waiting:
            if suspension != nil { throw .suspended(displayName) }
            if phase == .beginning, isPending { throw .pending(displayName) }
        }
    }
}
