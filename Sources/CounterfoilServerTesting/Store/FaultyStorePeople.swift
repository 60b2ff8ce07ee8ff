// The store protocols document these methods.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CounterfoilProtocol
public import CounterfoilServer
public import Foundation

extension FaultyStore: PeopleStore {
    public func person(_ id: PersonIdentifier) async throws(StoreFault) -> Person? {
        try await enter(.person)
        return try await store.person(id).map(seen)
    }

    public func person(named username: Username) async throws(StoreFault) -> Person? {
        try await enter(.person)
        return try await store.person(named: username).map(seen)
    }

    public func personID(named username: Username) async throws(StoreFault) -> PersonIdentifier? {
        try await enter(.person)
        return try await store.personID(named: username)
    }

    public func person(withEmail email: EmailAddress) async throws(StoreFault) -> Person? {
        try await enter(.person)
        return try await store.person(withEmail: email).map(seen)
    }

    public func hasAdministrator() async throws(StoreFault) -> Bool {
        try await enter(.hasAdministrator)
        return try await store.hasAdministrator()
    }

    public func addPerson(
        _ person: Person, recording events: [AuditEvent]
    ) async throws(StoreFault) -> AddPersonOutcome {
        try await enter(.addPerson)
        return try await store.addPerson(person, recording: events)
    }

    public func addFirstAdministrator(
        _ person: Person, recording events: [AuditEvent]
    ) async throws(StoreFault) -> AddPersonOutcome {
        try await enter(.addFirstAdministrator)
        return try await store.addFirstAdministrator(person, recording: events)
    }

    public func changePassword(
        of person: PersonIdentifier,
        from former: PasswordHash,
        to new: PasswordHash,
        keeping session: ArtefactDigest?,
        at time: Date,
        recording events: [AuditEvent]
    ) async throws(StoreFault) -> ChangePasswordOutcome {
        try await enter(.changePassword)
        guard !isSwitchedOff(person) else { return .personNotActive }
        return try await store.changePassword(
            of: person, from: former, to: new, keeping: session, at: time, recording: events)
    }

    public func replacePasswordHash(
        of person: PersonIdentifier, from former: PasswordHash, to new: PasswordHash
    ) async throws(StoreFault) -> Bool {
        try await enter(.changePassword)
        return try await store.replacePasswordHash(of: person, from: former, to: new)
    }

    public func updatePerson(
        _ person: Person, at time: Date, recording events: [AuditEvent]
    ) async throws(StoreFault) -> UpdatePersonOutcome {
        try await enter(.updatePerson)
        return try await store.updatePerson(person, at: time, recording: events)
    }

    @discardableResult
    public func disablePerson(
        _ person: PersonIdentifier, at time: Date, recording events: [AuditEvent]
    ) async throws(StoreFault) -> Bool {
        try await enter(.updatePerson)
        return try await store.disablePerson(person, at: time, recording: events)
    }

    public func people(after username: Username?, limit: Int) async throws(StoreFault) -> [Person] {
        try await enter(.people)
        return try await store.people(after: username, limit: limit)
    }

    public func beginRemoval(
        of person: PersonIdentifier, by terms: RemovalTerms,
        recording events: @escaping @Sendable ([ClientIdentifier]) -> [AuditEvent], at time: Date
    ) async throws(StoreFault) -> BeginRemovalOutcome {
        try await enter(.beginRemoval)
        return try await store.beginRemoval(of: person, by: terms, recording: events, at: time)
    }

    public func unreadableRecords(of person: PersonIdentifier) async throws(StoreFault) -> [UnreadableRecord] {
        try await enter(.person)
        return try await store.unreadableRecords(of: person)
    }

    public func continueRemovals(atMost rows: Int) async throws(StoreFault) -> Int {
        try await enter(.continueRemovals)
        return try await store.continueRemovals(atMost: rows)
    }
}

extension FaultyStore: SessionStore {
    public func session(_ digest: ArtefactDigest) async throws(StoreFault) -> SessionFacts? {
        try await enter(.session)
        guard let facts = try await store.session(digest) else { return nil }
        return SessionFacts(session: facts.session, person: seen(facts.person))
    }

    public func beginSession(
        _ session: Session,
        proving password: PasswordHash,
        replacing former: ArtefactDigest?,
        recording events: [AuditEvent]
    ) async throws(StoreFault) -> BeginSessionOutcome {
        try await enter(.beginSession)
        guard !isSwitchedOff(session.personID) else { return .personNotActive }
        return try await store.beginSession(session, proving: password, replacing: former, recording: events)
    }

    public func touchSession(_ digest: ArtefactDigest, at time: Date) async throws(StoreFault) {
        try await enter(.touchSession)
        try await store.touchSession(digest, at: time)
    }

    @discardableResult
    public func endSession(
        _ digest: ArtefactDigest, at time: Date, recording events: [AuditEvent]
    ) async throws(StoreFault) -> Bool {
        try await enter(.endSession)
        return try await store.endSession(digest, at: time, recording: events)
    }

    public func sessions(of person: PersonIdentifier) async throws(StoreFault) -> [Session] {
        try await enter(.sessions)
        return try await store.sessions(of: person)
    }

    public func endSession(
        _ digest: ArtefactDigest,
        of person: PersonIdentifier,
        at time: Date,
        recording events: [AuditEvent]
    ) async throws(StoreFault) -> Bool {
        try await enter(.endSession)
        return try await store.endSession(digest, of: person, at: time, recording: events)
    }

    @discardableResult
    public func signOutEverywhere(
        _ person: PersonIdentifier,
        except kept: ArtefactDigest?,
        at time: Date,
        recording events: [AuditEvent]
    ) async throws(StoreFault) -> Int {
        try await enter(.signOutEverywhere)
        return try await store.signOutEverywhere(person, except: kept, at: time, recording: events)
    }

    public func revokeDependents(
        ofSession session: SessionIdentifier, notSeenSince idle: Date, at time: Date
    ) async throws(StoreFault) {
        try await enter(.revokeDependents)
        try await store.revokeDependents(ofSession: session, notSeenSince: idle, at: time)
    }
}
