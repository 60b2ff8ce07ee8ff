// The store protocols document these methods.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import CounterfoilProtocol
public import CounterfoilServer
public import Foundation

extension MemoryStore: PeopleStore {
    public func person(_ id: PersonIdentifier) async throws(StoreFault) -> Person? {
        state.withLock { state in state.people[id] }
    }

    public func person(named username: Username) async throws(StoreFault) -> Person? {
        state.withLock { state in state.people.values.first { $0.username == username } }
    }

    public func personID(named username: Username) async throws(StoreFault) -> PersonIdentifier? {
        state.withLock { state in state.people.values.first { $0.username == username }?.id }
    }

    public func person(withEmail email: EmailAddress) async throws(StoreFault) -> Person? {
        state.withLock { state in state.people.values.first { $0.email == email } }
    }

    public func hasAdministrator() async throws(StoreFault) -> Bool {
        state.withLock { state in state.people.values.contains(where: \.isAdministrator) }
    }

    public func addPerson(
        _ person: Person, recording events: [AuditEvent]
    ) async throws(StoreFault) -> AddPersonOutcome {
        commit(recording: events) { state in state.add(person) }
    }

    public func addFirstAdministrator(
        _ person: Person, recording events: [AuditEvent]
    ) async throws(StoreFault) -> AddPersonOutcome {
        commit(recording: events) { state in
            guard !state.people.values.contains(where: \.isAdministrator) else { return .administratorExists }
            var administrator = person
            administrator.isAdministrator = true
            let outcome = state.add(administrator)
            if outcome == .added { state.setupNonce = nil }
            return outcome
        }
    }

    public func updatePerson(
        _ person: Person, at time: Date, recording events: [AuditEvent]
    ) async throws(StoreFault) -> UpdatePersonOutcome {
        commit(recording: events) { state in
            guard var stored = state.people[person.id] else { return .notFound }
            let isTaken =
                person.email != nil && state.people.values.contains { $0.email == person.email && $0.id != person.id }
            guard !isTaken else { return .emailTaken }
            stored.email = person.email
            stored.displayName = person.displayName
            stored.profile = person.profile
            stored.changedAt = time
            stored.disabledAt = person.disabledAt
            state.people[person.id] = stored
            if person.disabledAt != nil { _ = state.endSessions(of: person.id, except: nil, at: time) }
            return .updated
        }
    }

    @discardableResult
    public func disablePerson(
        _ person: PersonIdentifier, at time: Date, recording events: [AuditEvent]
    ) async throws(StoreFault) -> Bool {
        commit(recording: events) { state in
            guard let stored = state.people[person] else { return false }
            state.people[person]?.disabledAt = stored.disabledAt ?? time
            state.people[person]?.changedAt = time
            _ = state.endSessions(of: person, except: nil, at: time)
            return true
        }
    }

    public func people(after username: Username?, limit: Int) async throws(StoreFault) -> [Person] {
        state.withLock { state in
            let sorted = state.people.values.sorted { $0.username.rawValue < $1.username.rawValue }
            return Array(sorted.filter { $0.username.rawValue > username?.rawValue ?? "" }.prefix(limit))
        }
    }

    public func changePassword(
        of person: PersonIdentifier,
        from former: PasswordHash,
        to new: PasswordHash,
        keeping session: ArtefactDigest?,
        at time: Date,
        recording events: [AuditEvent]
    ) async throws(StoreFault) -> ChangePasswordOutcome {
        commit(recording: events) { state in
            guard state.isActive(person) else { return .personNotActive }
            guard state.people[person]?.passwordHash == former else { return .changedMeanwhile }
            state.people[person]?.passwordHash = new
            _ = state.signOutEverywhere(person, except: session, at: time)
            let grants = state.grants
            for grant in grants.values
            where grant.personID == person && grant.revokedAt == nil && state.hasUnusedDeviceCode(grant) {
                state.revoke(grant, because: .session, at: time)
            }
            state.killCodes { grants[$0.grantID]?.personID == person }
            return .changed
        }
    }

    public func replacePasswordHash(
        of person: PersonIdentifier, from former: PasswordHash, to new: PasswordHash
    ) async throws(StoreFault) -> Bool {
        state.withLock { state in
            guard state.people[person]?.passwordHash == former else { return false }
            state.people[person]?.passwordHash = new
            return true
        }
    }
}

extension MemoryStore.State {
    fileprivate mutating func add(_ person: Person) -> AddPersonOutcome {
        guard !people.values.contains(where: { $0.username == person.username }) else { return .usernameTaken }
        let hasFreeAddress = person.email == nil || !people.values.contains { $0.email == person.email }
        guard hasFreeAddress else { return .emailTaken }
        people[person.id] = person
        return .added
    }
}
