public import CounterfoilServer
import Synchronization

extension MemoryStore: PeopleStore {
    /// The person of an identifier.
    public func person(_ id: PersonIdentifier) async throws(StoreFault) -> Person? {
        state.withLock { state in state.people[id] }
    }

    /// The person of a user name.
    public func person(named username: Username) async throws(StoreFault) -> Person? {
        state.withLock { state in state.people.values.first { $0.username == username } }
    }

    /// The person of an e-mail address.
    public func person(withEmail email: EmailAddress) async throws(StoreFault) -> Person? {
        state.withLock { state in state.people.values.first { $0.email == email } }
    }

    /// Whether any administrator exists.
    public func hasAdministrator() async throws(StoreFault) -> Bool {
        state.withLock { state in state.people.values.contains(where: \.isAdministrator) }
    }

    /// Adds a person, unless the name or the address is taken.
    public func addPerson(_ person: Person) async throws(StoreFault) -> AddPersonOutcome {
        state.withLock { state in state.add(person) }
    }

    /// Adds a person as the first administrator, unless one exists.
    public func addFirstAdministrator(_ person: Person) async throws(StoreFault) -> AddPersonOutcome {
        state.withLock { state in
            guard !state.people.values.contains(where: \.isAdministrator) else { return .administratorExists }
            var administrator = person
            administrator.isAdministrator = true
            return state.add(administrator)
        }
    }

    /// Changes a password from the one that was proved, and ends every session of the person but one.
    public func changePassword(
        of person: PersonIdentifier,
        from former: PasswordHash,
        to new: PasswordHash,
        keeping session: ArtefactDigest?
    ) async throws(StoreFault) -> ChangePasswordOutcome {
        state.withLock { state in
            guard state.isActive(person) else { return .personGone }
            guard state.people[person]?.passwordHash == former else { return .changedMeanwhile }
            state.people[person]?.passwordHash = new
            _ = state.endSessions(of: person, except: session)
            let grants = state.grants
            state.killCodes { grants[$0.grantID]?.personID == person }
            return .changed
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
