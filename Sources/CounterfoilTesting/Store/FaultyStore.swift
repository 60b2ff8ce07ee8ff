public import CounterfoilServer
public import Foundation
import Synchronization

/// A store whose verbs can be made to fail, and whose people can be switched off, around any other store.
///
/// A verb that fails has written nothing, which is what the contract promises of every store.
public final class FaultyStore: Sendable {
    /// A verb of the store contract, by its name.
    public enum Verb: String, Sendable, Hashable, CaseIterable {
        /// Reading applications.
        case client, clients
        /// Registering, changing and removing an application.
        case addClient, updateClient, removeClient
        /// Reading how often an application was served without S256.
        case pkceExceptionUse
        /// Reading, adding and ending secrets.
        case clientSecrets, addClientSecret, removeClientSecret
        /// Reading a picture.
        case logo
        /// Reading and changing the look.
        case branding, updateBranding
        /// Reading consents.
        case consent, consents
        /// Taking something back.
        case narrowConsent
        /// Recording an approval with its code.
        case recordConsent
        /// Reading a code.
        case code
        /// Redeeming a code.
        case consumeCode
        /// Counting a wrong verifier.
        case countFailedRedemption
        /// Reading a grant, alone and with its person.
        case grant, grantFacts
        /// Revoking a grant.
        case revokeGrant
        /// Reading people.
        case person, hasAdministrator
        /// Adding people.
        case addPerson, addFirstAdministrator
        /// Changing a password.
        case changePassword
        /// Reading scopes.
        case scopes
        /// Adding, changing and removing a scope.
        case addScope, updateScope, removeScope
        /// Reading sessions.
        case session, sessions
        /// Beginning, noting and ending sessions.
        case beginSession, touchSession, endSession, signOutEverywhere, endWhatHangs
        /// Reading and keeping signing keys.
        case signingKeys, addFirstSigningKey, addSigningKey, removeSigningKey, removeSigningKeys
        /// Reading and changing people.
        case updatePerson, people
        /// Reading and recording refreshes.
        case refreshFacts, recordRefresh, refreshStatistics
        /// Recording that the store answers, and reading when it did.
        case recordService, serviceRecord
        /// Reading and changing APIs.
        case resources, addResource, replaceSecret, removeResource
        /// Asking whether an origin is registered.
        case isRegistered
        /// Writing and reading the audit log.
        case appendAudit, audit, auditLog, removeAudit
        /// Taking, removing and putting off what applications are to be told.
        case takeLogoutDeliveries, settleLogoutDelivery, logoutBacklog
        /// Removing what is over, and noting assertions.
        case removeWhatIsOver, noteAssertion
    }

    private struct State {
        var faults: [Verb: StoreFault] = [:]
        var calls: [Verb: Int] = [:]
        var switchedOff: [PersonIdentifier: Date] = [:]
        var interludes: [Verb: @Sendable () async -> Void] = [:]
    }

    let store: any AuthorizationServerStore
    private let state = Mutex(State())

    /// Wraps a store; no verb fails yet.
    public init(_ store: any AuthorizationServerStore = MemoryStore()) {
        self.store = store
    }

    /// Lets verbs fail from now on.
    public func fail(_ verbs: Verb..., with fault: StoreFault = .unavailable("the disk is full")) {
        state.withLock { state in
            for verb in verbs { state.faults[verb] = fault }
        }
    }

    /// Lets every verb succeed again.
    public func recover() { state.withLock { $0.faults = [:] } }

    /// How often a verb was called, also when it failed.
    public func calls(of verb: Verb) -> Int { state.withLock { $0.calls[verb] ?? 0 } }

    /// Switches off the account of a person.
    public func switchOff(_ id: PersonIdentifier, at time: Date) { state.withLock { $0.switchedOff[id] = time } }

    /// Does something just before the next call of a verb reaches the store: what somebody else does at that moment.
    public func before(_ verb: Verb, do interlude: @escaping @Sendable () async -> Void) {
        state.withLock { $0.interludes[verb] = interlude }
    }

    /// Counts a call of a verb, lets happen what is to happen before it, and throws when it is to fail.
    func enter(_ verb: Verb) async throws(StoreFault) {
        let (fault, interlude) = state.withLock { state in
            state.calls[verb, default: 0] += 1
            return (state.faults[verb], state.interludes.removeValue(forKey: verb))
        }
        await interlude?()
        if let fault { throw fault }
    }

    /// Whether the account of a person was switched off here.
    func isSwitchedOff(_ id: PersonIdentifier) -> Bool { state.withLock { $0.switchedOff[id] != nil } }

    /// A person with the account switched off that was switched off here.
    func seen(_ person: Person) -> Person {
        var person = person
        person.disabledAt = state.withLock { $0.switchedOff[person.id] } ?? person.disabledAt
        return person
    }
}
