import CounterfoilProtocol
import CounterfoilServer
import Foundation
import Synchronization

/// The store of the authorization server in memory, for tests.
///
/// It satisfies the same contract as every other store, and it loses its contents when it is released.
public final class MemoryStore: Sendable {
    /// The contents of the store.
    struct State {
        var scopes = Dictionary(uniqueKeysWithValues: ScopeDefinition.standard.map { ($0.token, $0) })
        /// In the order in which they were added, like every array here.
        var clients: [RegisteredClient] = []
        var removedClients: Set<ClientIdentifier> = []
        var people: [PersonIdentifier: Person] = [:]
        var sessions: [ArtefactDigest: Session] = [:]
        var grants: [GrantIdentifier: Grant] = [:]
        /// Grants that outlived the end of their session, whose clients have been notified of it.
        var grantsOfEndedSessions: Set<GrantIdentifier> = []
        var codes: [ArtefactDigest: CodeRecord] = [:]
        /// The digests of the consent pages that were answered.
        var interactions: Set<ArtefactDigest> = []
        var signingKeys: [SealedSigningKey] = []
        var clientSecrets: [ClientSecretRecord] = []
        var logos: [LogoIdentifier: Logo] = [:]
        var pkceExceptions: [ClientIdentifier: PKCEExceptionUse] = [:]
        var consents: [ConsentKey: Consent] = [:]
        var branding = Branding()
        var resources: [RegisteredResource] = []
        var audit: [AuditEvent] = []
        /// The number of events that were deleted from the start of the audit log.
        var auditRemoved = 0
        var deliveries: [PendingDelivery] = []
        var deliveryCount = 0
        var logoutQueues: [ClientIdentifier: LogoutQueue] = [:]
        var assertions: [ArtefactDigest: Date] = [:]
        var refreshFamilies: [ArtefactDigest: RefreshFamily] = [:]
        var refreshStatistics: [ClientIdentifier: RefreshStatistics] = [:]
        var service = ServiceRecord()
    }

    /// A delivery with the time at which it is due.
    struct PendingDelivery {
        var delivery: LogoutDelivery
        var dueAt: Date
        let createdAt: Date

        init(delivery: LogoutDelivery, dueAt: Date) {
            self.delivery = delivery
            self.dueAt = dueAt
            createdAt = dueAt
        }
    }

    /// The state of the logout deliveries of a client.
    struct LogoutQueue {
        var pausedUntil = Date.distantPast
        var leasedUntil = Date.distantPast
        var hostFailures = 0
    }

    /// A user and a client.
    struct ConsentKey: Hashable {
        let person: PersonIdentifier
        let client: ClientIdentifier
    }

    let state = Mutex(State())

    /// Creates a store that contains only the standard scopes.
    public init() {}
}

extension MemoryStore.State {
    /// Returns whether a user exists and the account is not disabled.
    func isActive(_ id: PersonIdentifier) -> Bool {
        guard let person = people[id] else { return false }
        return person.disabledAt == nil
    }
}
