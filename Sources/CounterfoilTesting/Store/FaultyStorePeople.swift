public import CounterfoilServer
public import Foundation

extension FaultyStore: PeopleStore {
    /// The person of an identifier.
    public func person(_ id: PersonIdentifier) async throws(StoreFault) -> Person? {
        try await enter(.person)
        return try await store.person(id).map(seen)
    }

    /// The person of a user name.
    public func person(named username: Username) async throws(StoreFault) -> Person? {
        try await enter(.person)
        return try await store.person(named: username).map(seen)
    }

    /// The person of an e-mail address.
    public func person(withEmail email: EmailAddress) async throws(StoreFault) -> Person? {
        try await enter(.person)
        return try await store.person(withEmail: email).map(seen)
    }

    /// Whether any administrator exists.
    public func hasAdministrator() async throws(StoreFault) -> Bool {
        try await enter(.hasAdministrator)
        return try await store.hasAdministrator()
    }

    /// Adds a person.
    public func addPerson(_ person: Person) async throws(StoreFault) -> AddPersonOutcome {
        try await enter(.addPerson)
        return try await store.addPerson(person)
    }

    /// Adds a person as the first administrator.
    public func addFirstAdministrator(_ person: Person) async throws(StoreFault) -> AddPersonOutcome {
        try await enter(.addFirstAdministrator)
        return try await store.addFirstAdministrator(person)
    }

    /// Changes a password.
    public func changePassword(
        of person: PersonIdentifier,
        from former: PasswordHash,
        to new: PasswordHash,
        keeping session: ArtefactDigest?
    ) async throws(StoreFault) -> ChangePasswordOutcome {
        try await enter(.changePassword)
        guard !isSwitchedOff(person) else { return .personGone }
        return try await store.changePassword(of: person, from: former, to: new, keeping: session)
    }
}

extension FaultyStore: SessionStore {
    /// The session of a digest with its person.
    public func session(_ digest: ArtefactDigest) async throws(StoreFault) -> SessionFacts? {
        try await enter(.session)
        guard let facts = try await store.session(digest) else { return nil }
        return SessionFacts(session: facts.session, person: seen(facts.person))
    }

    /// Begins a session.
    public func beginSession(
        _ session: Session,
        proving password: PasswordHash,
        replacing former: ArtefactDigest?
    ) async throws(StoreFault) -> BeginSessionOutcome {
        try await enter(.beginSession)
        guard !isSwitchedOff(session.personID) else { return .personGone }
        return try await store.beginSession(session, proving: password, replacing: former)
    }

    /// Notes that a browser was seen.
    public func touchSession(_ digest: ArtefactDigest, at time: Date) async throws(StoreFault) {
        try await enter(.touchSession)
        try await store.touchSession(digest, at: time)
    }

    /// Ends a session.
    @discardableResult
    public func endSession(_ digest: ArtefactDigest) async throws(StoreFault) -> Bool {
        try await enter(.endSession)
        return try await store.endSession(digest)
    }

    /// The sessions of a person.
    public func sessions(of person: PersonIdentifier) async throws(StoreFault) -> [Session] {
        try await enter(.sessions)
        return try await store.sessions(of: person)
    }

    /// Ends a session of a person.
    public func endSession(
        _ digest: ArtefactDigest,
        of person: PersonIdentifier
    ) async throws(StoreFault) -> Bool {
        try await enter(.endSession)
        return try await store.endSession(digest, of: person)
    }

    /// Ends every session of a person but one.
    @discardableResult
    public func endSessions(
        of person: PersonIdentifier,
        except kept: ArtefactDigest?
    ) async throws(StoreFault) -> Int {
        try await enter(.endSessions)
        return try await store.endSessions(of: person, except: kept)
    }
}
