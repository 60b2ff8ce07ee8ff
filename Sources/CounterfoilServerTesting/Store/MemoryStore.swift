import CounterfoilProtocol
import CounterfoilServer
import Foundation

/// An in-memory store of the authorization server, for tests.
///
/// It satisfies the contract of `AuthorizationServerStore`. It loses its contents when it is deallocated.
public final class MemoryStore: Sendable {
    /// The records of the store, which a mutex guards.
    struct State {
        /// A counter of the changes of the registry.
        var registryRevision: Int64 = 0
        var scopes = Dictionary(uniqueKeysWithValues: ScopeDefinition.standard.map { ($0.token, $0) }) {
            didSet { registryRevision += 1 }
        }
        /// The clients in the order of insertion, as in every array below.
        var clients: [RegisteredClient] = [] { didSet { registryRevision += 1 } }
        var removedClients: Set<ClientIdentifier> = []
        /// The deleted clients whose identifiers stay taken, in the order of their deletion.
        var clientRemovals: [ClientLeftovers] = []
        var people: [PersonIdentifier: Person] = [:]
        /// The deleted users with events that have no pseudonym yet, in the order of their deletion.
        var removals: [RemovedPerson] = []
        var sessions: [ArtefactDigest: Session] = [:]
        var grants: [GrantIdentifier: Grant] = [:]
        /// The grants whose session has ended, so that their clients are not notified of the end a second time.
        var grantsOfEndedSessions: Set<GrantIdentifier> = []
        var codes: [ArtefactDigest: CodeRecord] = [:]
        /// The codes that were presented again before it was known whether their tokens were sent.
        var contestedCodes: Set<ArtefactDigest> = []
        /// The device authorizations that no user has approved.
        var devices: [ArtefactDigest: DeviceAuthorization] = [:]
        /// The grants of answered pages by the digest of the identifier of the page, which cannot be answered again.
        var interactions: [ArtefactDigest: GrantIdentifier] = [:]
        var signingKeys: [SealedSigningKey] = [] { didSet { registryRevision += 1 } }
        var clientSecrets: [ClientSecretRecord] = [] { didSet { registryRevision += 1 } }
        var logos: [LogoIdentifier: Logo] = [:]
        var pkceExceptions: [ClientIdentifier: PKCEExceptionUse] = [:]
        var consents: [ConsentKey: Consent] = [:]
        var branding = Branding() { didSet { registryRevision += 1 } }
        var resources: [RegisteredResource] = [] { didSet { registryRevision += 1 } }
        /// The events of the audit log in the order of their numbers.
        var audit: [AuditEntry] = []
        /// The number of events that were appended to the audit log.
        var auditCount = 0
        var auditSeals = AuditSeals()
        var deliveries: [PendingDelivery] = []
        var deliveryCount = 0
        var logoutQueues: [ClientIdentifier: LogoutQueue] = [:]
        var assertions: [ArtefactDigest: (expires: Date, attempt: CommitAttempt)] = [:]
        var pushedRequests: [ArtefactDigest: PushedRequest] = [:]
        var refreshFamilies: [ArtefactDigest: RefreshFamily] = [:]
        /// The attempts that last changed a token family.
        var refreshAttempts: [ArtefactDigest: CommitAttempt] = [:]
        var refreshStatistics: [ClientIdentifier: RefreshStatistics] = [:]
        var service = ServiceRecord()
        var unregisteredClientPolicy = UnregisteredClientPolicy() { didSet { registryRevision += 1 } }
        var initialAccessTokens: [InitialAccessToken] = []
        /// The number of the link for the first administrator, and the time at which it was stored.
        var setupNonce: (nonce: SetupNonce, at: Date)?
        var maintenanceLease: (holder: LeaseHolder, end: Date)?
        var identifierKeys: [UInt8]?
        var certificateOrders = CertificateOrderRecords()
    }

    /// A queued back-channel logout notification, with the time at which it is due and the time of queueing.
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

    /// The state of the logout deliveries of a client: paused after a failure, or blocked by a delivery in flight.
    struct LogoutQueue {
        var pausedUntil = Date.distantPast
        var leasedUntil = Date.distantPast
        var hostFailures = 0
    }

    /// The key of a consent: its user and its client.
    struct ConsentKey: Hashable {
        let person: PersonIdentifier
        let client: ClientIdentifier
    }

    let state = Mutex(State())
    let attempts = ProcessAttempts()
    let proofs = ProcessProofs()

    /// Creates a store that contains only the standard scopes.
    public init() {}

    /// Changes the records, and appends the events that describe the change if the outcome is a success.
    func commit<Outcome: CommitOutcome>(
        recording events: [AuditEvent], _ change: (inout State) -> Outcome
    ) -> Outcome {
        state.withLock { state in
            let outcome = change(&state)
            if outcome.isCommitted { state.append(events) }
            return outcome
        }
    }
}

extension MemoryStore.State {
    /// Returns true if a user exists and the account is not disabled.
    func isActive(_ id: PersonIdentifier) -> Bool {
        guard let person = people[id] else { return false }
        return person.disabledAt == nil
    }
}
