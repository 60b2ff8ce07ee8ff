// The store protocols document these methods.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import CounterfoilProtocol
public import CounterfoilServer
public import Foundation

extension MemoryStore: SessionStore {
    public func session(_ digest: ArtefactDigest) async throws(StoreFault) -> SessionFacts? {
        state.withLock { state in
            guard let session = state.sessions[digest], let person = state.people[session.personID] else { return nil }
            return SessionFacts(session: session, person: person)
        }
    }

    public func beginSession(
        _ session: Session,
        proving password: PasswordHash,
        replacing former: ArtefactDigest?,
        recording events: [AuditEvent]
    ) async throws(StoreFault) -> BeginSessionOutcome {
        commit(recording: events) { state in
            guard state.isActive(session.personID) else { return .personNotActive }
            guard state.people[session.personID]?.passwordHash == password else { return .passwordChanged }
            var session = session
            if let continued = former.flatMap({ state.sessions[$0] }), continued.personID == session.personID {
                session.id = continued.id
            }
            state.sessions[session.digest] = session
            if let former { state.end(former, at: session.authenticatedAt) }
            let others = state.sessions(of: session.personID).filter { $0.digest != session.digest }
            for surplus in others.dropFirst(Session.limitPerPerson - 1) {
                state.end(surplus.digest, at: session.authenticatedAt)
            }
            return .begun(session.id)
        }
    }

    public func touchSession(_ digest: ArtefactDigest, at time: Date) async throws(StoreFault) {
        state.withLock { state in
            guard let session = state.sessions[digest], session.lastSeenAt < time else { return }
            state.sessions[digest]?.lastSeenAt = time
        }
    }

    @discardableResult
    public func endSession(
        _ digest: ArtefactDigest, at time: Date, recording events: [AuditEvent]
    ) async throws(StoreFault) -> Bool {
        commit(recording: events) { state in state.end(digest, at: time) }
    }

    public func sessions(of person: PersonIdentifier) async throws(StoreFault) -> [Session] {
        state.withLock { state in state.sessions(of: person) }
    }

    public func endSession(
        _ digest: ArtefactDigest,
        of person: PersonIdentifier,
        at time: Date,
        recording events: [AuditEvent]
    ) async throws(StoreFault) -> Bool {
        commit(recording: events) { state in
            guard state.sessions[digest]?.personID == person else { return false }
            return state.end(digest, at: time)
        }
    }

    @discardableResult
    public func signOutEverywhere(
        _ person: PersonIdentifier,
        except kept: ArtefactDigest?,
        at time: Date,
        recording events: [AuditEvent]
    ) async throws(StoreFault) -> Int {
        state.withLock { state in
            state.append(events)
            return state.signOutEverywhere(person, except: kept, at: time)
        }
    }

    public func revokeDependents(
        ofSession session: SessionIdentifier, notSeenSince idle: Date, at time: Date
    ) async throws(StoreFault) {
        state.withLock { state in
            let over = state.sessions.values.filter {
                $0.id == session && ($0.expiresAt <= time || $0.lastSeenAt <= idle)
            }
            for session in over { state.sessions[session.digest] = nil }
            state.revokeDependents(ofSession: session, at: time)
        }
    }
}

extension MemoryStore.State {
    /// Returns the sessions of a user, most recently used first.
    fileprivate func sessions(of person: PersonIdentifier) -> [Session] {
        sessions.values.filter { $0.personID == person }.sorted { left, right in
            if left.lastSeenAt != right.lastSeenAt { return left.lastSeenAt > right.lastSeenAt }
            if left.authenticatedAt != right.authenticatedAt { return left.authenticatedAt > right.authenticatedAt }
            return left.digest.bytes.lexicographicallyPrecedes(right.digest.bytes)
        }
    }

    /// Ends every session of a user except `kept`, and returns how many ended.
    mutating func endSessions(of person: PersonIdentifier, except kept: ArtefactDigest?, at time: Date) -> Int {
        let ended = sessions.values.filter { $0.personID == person && $0.digest != kept }
        for session in ended { end(session.digest, at: time) }
        return ended.count
    }

    /// Ends every session of a user except `kept`, and revokes every grant that was not given in the session `kept`.
    ///
    /// - Returns: The number of sessions that ended.
    mutating func signOutEverywhere(_ person: PersonIdentifier, except kept: ArtefactDigest?, at time: Date) -> Int {
        let ended = endSessions(of: person, except: kept, at: time)
        let kept = kept.flatMap { sessions[$0] }.flatMap { $0.personID == person ? $0.id : nil }
        for grant in grants.values
        where grant.personID == person && grant.revokedAt == nil && (kept == nil || grant.sessionID != kept) {
            revoke(grant, because: .session, at: time)
        }
        return ended
    }

    /// Ends a session and revokes its dependents; returns whether the session existed.
    @discardableResult
    mutating func end(_ digest: ArtefactDigest, at time: Date) -> Bool {
        guard let session = sessions.removeValue(forKey: digest) else { return false }
        revokeDependents(ofSession: session.id, at: time)
        return true
    }

    /// Queues the logout deliveries of a session, and revokes its grants to single-page applications and those with an
    /// unused `device_code`.
    ///
    /// The function does nothing if a session with this `sid` still exists, because a new sign-in of the same user
    /// continues the `sid` in a new session.
    mutating func revokeDependents(ofSession session: SessionIdentifier, at time: Date) {
        guard !sessions.values.contains(where: { $0.id == session }) else { return }
        let held = grants.values.filter {
            $0.sessionID == session && $0.revokedAt == nil && !grantsOfEndedSessions.contains($0.id)
        }
        for client in clients {
            let given = held.filter { $0.clientID == client.id }
            if let personID = given.first?.personID, client.backchannelLogoutURI != nil {
                deliveryCount += 1
                deliveries.append(
                    MemoryStore.PendingDelivery(
                        delivery: LogoutDelivery(
                            number: deliveryCount, clientID: client.id, subject: .person(personID),
                            sessionID: session, attempts: 0),
                        dueAt: time))
            }
            for grant in given where client.type == .singlePage || hasUnusedDeviceCode(grant) {
                revoke(grant, because: .session, at: time)
            }
        }
        grantsOfEndedSessions.formUnion(held.map(\.id))
    }
}
