public import CounterfoilProtocol
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
        /// Registering an application.
        case addClient
        /// Recording an approval with its code.
        case recordConsent
        /// Reading a code.
        case code
        /// Redeeming a code.
        case consumeCode
        /// Counting a wrong verifier.
        case countFailedRedemption
        /// Reading a grant.
        case grant
        /// Revoking a grant.
        case revokeGrant
        /// Reading people.
        case person, hasAdministrator
        /// Adding people.
        case addPerson, addFirstAdministrator
        /// Reading scopes.
        case scopes
        /// Adding a scope.
        case addScope
        /// Reading a session.
        case session
        /// Beginning, noting and ending a session.
        case beginSession, touchSession, endSession
        /// Reading and keeping signing keys.
        case signingKeys, addFirstSigningKey
    }

    private struct State {
        var faults: [Verb: StoreFault] = [:]
        var calls: [Verb: Int] = [:]
        var switchedOff: [PersonIdentifier: Date] = [:]
    }

    private let store: any AuthorizationServerStore
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

    private func enter(_ verb: Verb) throws(StoreFault) {
        let fault = state.withLock { state in
            state.calls[verb, default: 0] += 1
            return state.faults[verb]
        }
        if let fault { throw fault }
    }

    private func isSwitchedOff(_ id: PersonIdentifier) -> Bool { state.withLock { $0.switchedOff[id] != nil } }

    private func seen(_ person: Person) -> Person {
        var person = person
        person.disabledAt = state.withLock { $0.switchedOff[person.id] } ?? person.disabledAt
        return person
    }
}

extension FaultyStore: ClientStore {
    /// The application of an identifier.
    public func client(_ id: ClientIdentifier) async throws(StoreFault) -> RegisteredClient? {
        try enter(.client)
        return try await store.client(id)
    }

    /// Every application, oldest first.
    public func clients() async throws(StoreFault) -> [RegisteredClient] {
        try enter(.clients)
        return try await store.clients()
    }

    /// Registers an application.
    public func addClient(_ client: RegisteredClient) async throws(StoreFault) -> AddClientOutcome {
        try enter(.addClient)
        return try await store.addClient(client)
    }
}

extension FaultyStore: GrantStore {
    /// Records what a person allowed, with the code for it.
    public func recordConsent(_ grant: Grant, code: CodeRecord) async throws(StoreFault) -> RecordConsentOutcome {
        try enter(.recordConsent)
        guard !isSwitchedOff(grant.personID) else { return .personGone }
        return try await store.recordConsent(grant, code: code)
    }

    /// The code of a digest with its grant and person.
    public func code(_ digest: ArtefactDigest) async throws(StoreFault) -> CodeFacts? {
        try enter(.code)
        guard let facts = try await store.code(digest) else { return nil }
        return CodeFacts(code: facts.code, grant: facts.grant, person: seen(facts.person))
    }

    /// Redeems a code.
    public func consumeCode(_ digest: ArtefactDigest, at time: Date) async throws(StoreFault) -> ConsumeCodeOutcome {
        try enter(.consumeCode)
        if let facts = try await store.code(digest), isSwitchedOff(facts.person.id) { return .gone }
        return try await store.consumeCode(digest, at: time)
    }

    /// Counts a redemption with a wrong verifier.
    @discardableResult
    public func countFailedRedemption(_ digest: ArtefactDigest) async throws(StoreFault) -> Int {
        try enter(.countFailedRedemption)
        return try await store.countFailedRedemption(digest)
    }

    /// The grant of an identifier.
    public func grant(_ id: GrantIdentifier) async throws(StoreFault) -> Grant? {
        try enter(.grant)
        return try await store.grant(id)
    }

    /// Revokes a grant.
    @discardableResult
    public func revokeGrant(_ id: GrantIdentifier, at time: Date) async throws(StoreFault) -> RevokeGrantOutcome {
        try enter(.revokeGrant)
        return try await store.revokeGrant(id, at: time)
    }
}

extension FaultyStore: PeopleStore {
    /// The person of an identifier.
    public func person(_ id: PersonIdentifier) async throws(StoreFault) -> Person? {
        try enter(.person)
        return try await store.person(id).map(seen)
    }

    /// The person of a user name.
    public func person(named username: Username) async throws(StoreFault) -> Person? {
        try enter(.person)
        return try await store.person(named: username).map(seen)
    }

    /// The person of an e-mail address.
    public func person(withEmail email: EmailAddress) async throws(StoreFault) -> Person? {
        try enter(.person)
        return try await store.person(withEmail: email).map(seen)
    }

    /// Whether any administrator exists.
    public func hasAdministrator() async throws(StoreFault) -> Bool {
        try enter(.hasAdministrator)
        return try await store.hasAdministrator()
    }

    /// Adds a person.
    public func addPerson(_ person: Person) async throws(StoreFault) -> AddPersonOutcome {
        try enter(.addPerson)
        return try await store.addPerson(person)
    }

    /// Adds a person as the first administrator.
    public func addFirstAdministrator(_ person: Person) async throws(StoreFault) -> AddPersonOutcome {
        try enter(.addFirstAdministrator)
        return try await store.addFirstAdministrator(person)
    }
}

extension FaultyStore: ScopeStore {
    /// Every scope by name.
    public func scopes() async throws(StoreFault) -> [ScopeDefinition] {
        try enter(.scopes)
        return try await store.scopes()
    }

    /// Adds a scope.
    public func addScope(_ scope: ScopeDefinition) async throws(StoreFault) -> AddScopeOutcome {
        try enter(.addScope)
        return try await store.addScope(scope)
    }
}

extension FaultyStore: SessionStore {
    /// The session of a digest with its person.
    public func session(_ digest: ArtefactDigest) async throws(StoreFault) -> SessionFacts? {
        try enter(.session)
        guard let facts = try await store.session(digest) else { return nil }
        return SessionFacts(session: facts.session, person: seen(facts.person))
    }

    /// Begins a session.
    public func beginSession(
        _ session: Session,
        replacing former: ArtefactDigest?
    ) async throws(StoreFault) -> BeginSessionOutcome {
        try enter(.beginSession)
        guard !isSwitchedOff(session.personID) else { return .personGone }
        return try await store.beginSession(session, replacing: former)
    }

    /// Notes that a browser was seen.
    public func touchSession(_ digest: ArtefactDigest, at time: Date) async throws(StoreFault) {
        try enter(.touchSession)
        try await store.touchSession(digest, at: time)
    }

    /// Ends a session.
    @discardableResult
    public func endSession(_ digest: ArtefactDigest) async throws(StoreFault) -> Bool {
        try enter(.endSession)
        return try await store.endSession(digest)
    }
}

extension FaultyStore: SigningKeyStore {
    /// Every key, oldest first.
    public func signingKeys() async throws(StoreFault) -> [SealedSigningKey] {
        try enter(.signingKeys)
        return try await store.signingKeys()
    }

    /// Keeps the first key of an algorithm.
    public func addFirstSigningKey(_ key: SealedSigningKey) async throws(StoreFault) -> AddSigningKeyOutcome {
        try enter(.addFirstSigningKey)
        return try await store.addFirstSigningKey(key)
    }
}
