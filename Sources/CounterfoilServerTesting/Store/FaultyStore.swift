public import CounterfoilServer
public import Foundation
import Synchronization

/// A wrapper around any store that can make its methods fail and disable accounts.
///
/// A method that fails has written nothing, as the contract requires of every store.
public final class FaultyStore: Sendable {
    /// A method of the store protocols, by its name.
    public enum Verb: String, Sendable, Hashable, CaseIterable {
        /// Reading clients.
        case client, clients
        /// Registering, changing and deleting a client.
        case addClient, updateClient, removeClient
        /// Reading how often a client was served without S256.
        case pkceExceptionUse
        /// Reading, adding and deleting client secrets.
        case clientSecrets, addClientSecret, removeClientSecret
        /// Reading a logo.
        case logo
        /// Reading and changing the branding.
        case branding, updateBranding
        /// Reading consents.
        case consent, consents
        /// Withdrawing consent, in part or entirely.
        case narrowConsent
        /// Recording an approval with its authorization code.
        case recordConsent
        /// Reading an authorization code.
        case code
        /// Redeeming an authorization code.
        case consumeCode
        /// Counting a redemption with a wrong code verifier.
        case countFailedRedemption
        /// Reading a grant, alone or with its user.
        case grant, grantFacts
        /// Revoking a grant.
        case revokeGrant
        /// Reading users.
        case person, hasAdministrator
        /// Adding users.
        case addPerson, addFirstAdministrator
        /// Changing a password.
        case changePassword
        /// Reading scopes.
        case scopes
        /// Adding, changing and deleting a scope.
        case addScope, updateScope, removeScope
        /// Reading sessions.
        case session, sessions
        /// Starting, updating and ending sessions.
        case beginSession, touchSession, endSession, signOutEverywhere, revokeDependents
        /// Reading, adding and deleting signing keys.
        case signingKeys, addFirstSigningKey, addSigningKey, removeSigningKey, removeSigningKeys
        /// Changing users and reading pages of users.
        case updatePerson, people
        /// Reading and recording refreshes.
        case refreshFacts, recordRefresh, refreshStatistics
        /// Recording that the store responds, and reading that record.
        case recordService, serviceRecord
        /// Reading and changing APIs.
        case resources, addResource, replaceSecret, removeResource
        /// Reading whether a client is registered for an origin.
        case isRegistered
        /// Writing and reading the audit log.
        case appendAudit, audit, auditLog, removeAudit
        /// Taking and settling back-channel logout deliveries, and reading the backlog.
        case takeLogoutDeliveries, settleLogoutDelivery, logoutBacklog
        /// Deleting expired records, and recording client assertions.
        case deleteExpired, noteAssertion
    }

    private struct State {
        var faults: [Verb: StoreFault] = [:]
        var calls: [Verb: Int] = [:]
        var switchedOff: [PersonIdentifier: Date] = [:]
        var interludes: [Verb: @Sendable () async -> Void] = [:]
    }

    let store: any AuthorizationServerStore
    private let state = Mutex(State())

    /// Wraps a store, without failures.
    public init(_ store: any AuthorizationServerStore = MemoryStore()) {
        self.store = store
    }

    /// Makes methods fail from now on.
    public func fail(_ verbs: Verb..., with fault: StoreFault = .unavailable("the disk is full")) {
        state.withLock { state in
            for verb in verbs { state.faults[verb] = fault }
        }
    }

    /// Makes every method succeed again.
    public func recover() { state.withLock { $0.faults = [:] } }

    /// Returns how often a method was called, including failed calls.
    public func calls(of verb: Verb) -> Int { state.withLock { $0.calls[verb] ?? 0 } }

    /// Disables the account of a user in the results of this wrapper.
    public func switchOff(_ id: PersonIdentifier, at time: Date) { state.withLock { $0.switchedOff[id] = time } }

    /// Runs a closure once, just before the next call of a method reaches the store.
    ///
    /// A test can simulate a concurrent change with it.
    public func before(_ verb: Verb, do interlude: @escaping @Sendable () async -> Void) {
        state.withLock { $0.interludes[verb] = interlude }
    }

    /// Counts a call, runs the closure that is set for it, and throws the error that is set for it.
    func enter(_ verb: Verb) async throws(StoreFault) {
        let (fault, interlude) = state.withLock { state in
            state.calls[verb, default: 0] += 1
            return (state.faults[verb], state.interludes.removeValue(forKey: verb))
        }
        await interlude?()
        if let fault { throw fault }
    }

    /// Returns whether this wrapper disabled the account of a user.
    func isSwitchedOff(_ id: PersonIdentifier) -> Bool { state.withLock { $0.switchedOff[id] != nil } }

    /// Returns a user with the account disabled if this wrapper disabled it.
    func seen(_ person: Person) -> Person {
        var person = person
        person.disabledAt = state.withLock { $0.switchedOff[person.id] } ?? person.disabledAt
        return person
    }
}
