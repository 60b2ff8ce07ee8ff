import CounterfoilProtocol
public import CounterfoilServer
public import Foundation

/// A wrapper around any store, with which a test makes methods fail and accounts appear disabled.
///
/// A failing method writes nothing, as the contract of the store protocols requires. With
/// ``lose(_:committing:times:)``, the answer to a commit is lost.
public final class FaultyStore: Sendable {
    /// The methods of the store protocols, by name; methods with the same name share a case.
    public enum Verb: String, Sendable, Hashable, CaseIterable {
        /// Reading the revision of the registry.
        case registryRevision
        /// Reading the clients in the association files, and the longest idle lifetime of refresh tokens.
        case associatedClients, longestRefreshIdleLifetime
        /// Reading one client, or several.
        case client, clients
        /// Registering, changing and deleting a client.
        case addClient, updateClient, removeClient
        /// Reading how often a client was authorized without S256.
        case pkceExceptionUse
        /// Reading, adding and deleting client secrets.
        case clientSecrets, addClientSecret, removeClientSecret
        /// Reading the image of a logo.
        case logo
        /// Reading and changing the branding.
        case branding, updateBranding
        /// Reading one consent, or all consents of a user.
        case consent, consents
        /// Withdrawing consent, in part or entirely.
        case narrowConsent
        /// Recording an approval with its authorization code.
        case recordConsent
        /// Storing, reading, polling and denying a device authorization.
        case addDeviceAuthorization, deviceAuthorization, pollDevice, denyDevice
        /// Reading an authorization code with its grant and user.
        case code
        /// Marking an authorization code as redeemed, as redeemed twice, and as answered or not.
        case consumeCode, contestRedemption, settleRedemptions
        /// Counting a redemption with a wrong code verifier.
        case countFailedRedemption
        /// Reading a grant, alone or with its user, and all grants of a user.
        case grant, grantFacts, grants
        /// Revoking one grant, for any reason.
        case revokeGrant
        /// Reading a user, or whether there is an administrator.
        case person, hasAdministrator
        /// Adding users.
        case addPerson, addFirstAdministrator
        /// Changing a password.
        case changePassword
        /// Reading the definitions of all scopes.
        case scopes
        /// Adding, changing and deleting a scope.
        case addScope, updateScope, removeScope
        /// Reading one session, or all sessions of a user.
        case session, sessions
        /// Starting, updating and ending sessions.
        case beginSession, touchSession, endSession, signOutEverywhere, revokeDependents
        /// Reading, adding and deleting signing keys.
        case signingKeys, addFirstSigningKey, addSigningKey, removeSigningKey, removeSigningKeys
        /// Changing a user, and listing users.
        case updatePerson, people
        /// Deleting a user, and the records that are left of deleted users.
        case beginRemoval, continueRemovals
        /// Reading and recording refreshes.
        case refreshFacts, recordRefresh, refreshStatistics
        /// Recording a heartbeat, taking up space, and reading the last heartbeat and the outages.
        case recordService, takeUpSpace, serviceRecord
        /// Reading, registering, changing and deleting APIs, and replacing the secret of an API.
        case resources, addResource, updateResource, replaceSecret, removeResource
        /// Reading whether any client has registered an origin for CORS.
        case isRegistered
        /// Writing and reading the audit log.
        case appendAudit, audit, auditLog, removeAudit
        /// Reading and writing the seals of the audit log.
        case sealedAudit, sealAudit
        /// Taking due back-channel logout deliveries, recording their results, and reading the backlog.
        case takeLogoutDeliveries, settleLogoutDelivery, logoutBacklog
        /// Storing, opening and removing pushed authorization requests.
        case addPushedRequest, openPushedRequest, removePushedRequest
        /// Reading and changing the policy for unregistered clients, storing such clients, and counting their users.
        case unregisteredClientPolicy, updateUnregisteredClientPolicy, addSelfRegisteredClient, userCount
        /// Storing, reading and deleting the tokens for registrations.
        case addInitialAccessToken, initialAccessTokens, removeInitialAccessToken
        /// Reading the use of unregistered clients, and deleting them.
        case unregisteredClients, removeUnregisteredClients
        /// Taking and returning the lease of the maintenance, deleting expired records, and recording assertions.
        case takeMaintenanceLease, returnMaintenanceLease, deleteExpired, noteAssertion
        /// Counting attempts, and changing what counts for one that did not fail.
        case admitAttempt, settleAttempt
        /// Noting the use of a DPoP proof.
        case noteProof
        /// Storing and reading the number of the link for the first administrator.
        case renewSetupNonce, setupNonce
        /// Reading and replacing the keys of the identifiers.
        case identifierKeys, replaceIdentifierKeys
        /// The account at an authority, the certificate that it has issued, and its orders and challenges.
        case accountKey, issuedCertificate, storeCertificate, requestRenewal, pendingChallenges, replaceChallenges
        case failedOrders, orderLease
    }

    private struct State {
        var faults: [Verb: StoreFault] = [:]
        var losses: [Verb: Loss] = [:]
        var calls: [Verb: Int] = [:]
        var switchedOff: [PersonIdentifier: Date] = [:]
        var interludes: [Verb: @Sendable () async -> Void] = [:]
        var unusedLimit = Int.max
        /// The number of calls that changed what reads of the registry do.
        var disturbances: Int64 = 0
    }

    private struct Loss {
        let isCommitted: Bool
        var left: Int
    }

    let store: any AuthorizationServerStore
    private let state = Mutex(State())

    /// Wraps a store; no method fails until ``fail(_:with:)`` is called.
    public init(_ store: any AuthorizationServerStore = MemoryStore()) {
        self.store = store
    }

    /// Makes methods fail until ``recover()`` is called.
    ///
    /// The registry appears to have changed, so that a cache above this store reads it again and meets the fault.
    public func fail(_ verbs: Verb..., with fault: StoreFault = .unavailable("the disk is full")) {
        state.withLock { state in
            state.disturbances += 1
            for verb in verbs { state.faults[verb] = fault }
        }
    }

    /// Makes the answers of commits that can happen only once get lost: the method throws `StoreFault.unconfirmed`.
    ///
    /// - Parameters:
    ///   - verbs: `recordConsent`, `consumeCode`, `recordRefresh` or `noteAssertion`.
    ///   - isCommitted: Whether the commit happens before its answer is lost.
    ///   - times: The number of calls of each method whose answers are lost; by default all until ``recover()``.
    public func lose(_ verbs: Verb..., committing isCommitted: Bool, times: Int = .max) {
        state.withLock { state in
            for verb in verbs { state.losses[verb] = Loss(isCommitted: isCommitted, left: times) }
        }
    }

    /// Ends the effect of ``fail(_:with:)`` and ``lose(_:committing:times:)`` for all methods.
    public func recover() {
        state.withLock { state in
            state.faults = [:]
            state.losses = [:]
        }
    }

    /// Returns how often a method was called, including calls that failed.
    public func calls(of verb: Verb) -> Int { state.withLock { $0.calls[verb] ?? 0 } }

    /// Makes the account of a user appear disabled since `time`; the wrapped store does not change.
    public func switchOff(_ id: PersonIdentifier, at time: Date) { state.withLock { $0.switchedOff[id] = time } }

    /// Lowers the limit of clients that registered themselves and were never used.
    public func limitUnusedClients(to limit: Int) { state.withLock { $0.unusedLimit = limit } }

    /// The limit of ``limitUnusedClients(to:)``.
    var unusedLimit: Int { state.withLock { $0.unusedLimit } }

    /// Runs a closure once, at the start of the next call of a method.
    ///
    /// The wrapped store has not received the call yet. A test can thus simulate a concurrent change.
    public func before(_ verb: Verb, do interlude: @escaping @Sendable () async -> Void) {
        state.withLock { state in
            state.interludes[verb] = interlude
            state.disturbances += 1
        }
    }

    /// Returns a revision of the wrapped registry as this wrapper reports it: each ``fail(_:with:)`` and
    /// ``before(_:do:)`` changes it.
    func seen(_ revision: RegistryRevision) -> RegistryRevision {
        RegistryRevision(revision.number &+ state.withLock { $0.disturbances } << 32)
    }

    /// Counts a call of a method, runs the closure of ``before(_:do:)``, and throws the error of ``fail(_:with:)``.
    func enter(_ verb: Verb) async throws(StoreFault) {
        let (fault, interlude) = state.withLock { state in
            state.calls[verb, default: 0] += 1
            return (state.faults[verb], state.interludes.removeValue(forKey: verb))
        }
        await interlude?()
        if let fault { throw fault }
    }

    /// Runs a commit as ``enter(_:)`` and ``lose(_:committing:times:)`` demand.
    func commit<Outcome>(
        _ verb: Verb, _ commit: () async throws(StoreFault) -> Outcome
    ) async throws(StoreFault) -> Outcome {
        try await enter(verb)
        let isCommitted: Bool? = state.withLock { state in
            guard let loss = state.losses[verb], loss.left > 0 else { return nil }
            state.losses[verb]?.left -= 1
            return loss.isCommitted
        }
        guard let isCommitted else { return try await commit() }
        if isCommitted { _ = try await commit() }
        throw .unconfirmed("the connection was lost during the commit")
    }

    /// Returns true if this wrapper treats the account of a user as disabled.
    func isSwitchedOff(_ id: PersonIdentifier) -> Bool { state.withLock { $0.switchedOff[id] != nil } }

    /// Returns a user as this wrapper reports it, with the account disabled if ``switchOff(_:at:)`` was called.
    func seen(_ person: Person) -> Person {
        var person = person
        person.disabledAt = state.withLock { $0.switchedOff[person.id] } ?? person.disabledAt
        return person
    }
}
