public import CounterfoilServer
public import Foundation
import Synchronization

extension MemoryStore: SessionStore {
    /// The session of a digest with its person, also when it has expired.
    public func session(_ digest: ArtefactDigest) async throws(StoreFault) -> SessionFacts? {
        state.withLock { state in
            guard let session = state.sessions[digest], let person = state.people[session.personID] else { return nil }
            return SessionFacts(session: session, person: person)
        }
    }

    /// Begins a session for who proved the password that is stored now, and ends the one that the same browser had before, in
    /// one step.
    public func beginSession(
        _ session: Session,
        proving password: PasswordHash,
        replacing former: ArtefactDigest?
    ) async throws(StoreFault) -> BeginSessionOutcome {
        state.withLock { state in
            guard state.isActive(session.personID) else { return .personGone }
            guard state.people[session.personID]?.passwordHash == password else { return .passwordChanged }
            state.sessions[session.digest] = session
            if let former { state.end(former, at: session.authenticatedAt) }
            return .begun
        }
    }

    /// Notes that a browser was seen; does nothing when the session has ended, or was seen later already.
    public func touchSession(_ digest: ArtefactDigest, at time: Date) async throws(StoreFault) {
        state.withLock { state in
            guard let session = state.sessions[digest], session.lastSeenAt < time else { return }
            state.sessions[digest]?.lastSeenAt = time
        }
    }

    /// Ends a session; true when there was one.
    @discardableResult
    public func endSession(_ digest: ArtefactDigest, at time: Date) async throws(StoreFault) -> Bool {
        state.withLock { state in state.end(digest, at: time) }
    }

    /// The sessions of a person, last seen first, also those that have expired.
    public func sessions(of person: PersonIdentifier) async throws(StoreFault) -> [Session] {
        state.withLock { state in
            state.sessions.values.filter { $0.personID == person }.sorted { left, right in
                if left.lastSeenAt != right.lastSeenAt { return left.lastSeenAt > right.lastSeenAt }
                if left.authenticatedAt != right.authenticatedAt { return left.authenticatedAt > right.authenticatedAt }
                return left.digest.bytes.lexicographicallyPrecedes(right.digest.bytes)
            }
        }
    }

    /// Ends a session of a person; false when the person has none of this digest.
    public func endSession(
        _ digest: ArtefactDigest,
        of person: PersonIdentifier,
        at time: Date
    ) async throws(StoreFault) -> Bool {
        state.withLock { state in
            guard state.sessions[digest]?.personID == person else { return false }
            return state.end(digest, at: time)
        }
    }

    /// Ends every session of a person but one; how many.
    @discardableResult
    public func endSessions(
        of person: PersonIdentifier,
        except kept: ArtefactDigest?,
        at time: Date
    ) async throws(StoreFault) -> Int {
        state.withLock { state in state.endSessions(of: person, except: kept, at: time) }
    }
}

extension MemoryStore.State {
    /// Ends every session of a person but one; how many.
    mutating func endSessions(of person: PersonIdentifier, except kept: ArtefactDigest?, at time: Date) -> Int {
        let ended = sessions.values.filter { $0.personID == person && $0.digest != kept }
        for session in ended { end(session.digest, at: time) }
        return ended.count
    }

    /// Ends a session with what hangs on it; whether there was one.
    @discardableResult
    mutating func end(_ digest: ArtefactDigest, at time: Date) -> Bool {
        guard let session = sessions.removeValue(forKey: digest) else { return false }
        let held = grants.values.filter { $0.sessionID == session.id && $0.revokedAt == nil }
        for client in clients {
            let given = held.filter { $0.clientID == client.id }
            if !given.isEmpty, client.backchannelLogoutURI != nil {
                deliveryCount += 1
                deliveries.append(
                    MemoryStore.PendingDelivery(
                        delivery: LogoutDelivery(
                            number: deliveryCount, clientID: client.id, personID: session.personID,
                            sessionID: session.id, attempts: 0),
                        dueAt: time))
            }
            if client.type == .singlePage { for grant in given { revoke(grant, because: .session, at: time) } }
        }
        return true
    }
}
