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

    /// Begins a session and ends the one that the same browser had before, in one step.
    public func beginSession(
        _ session: Session,
        replacing former: ArtefactDigest?
    ) async throws(StoreFault) -> BeginSessionOutcome {
        state.withLock { state in
            guard state.isActive(session.personID) else { return .personGone }
            state.sessions[session.digest] = session
            if let former { state.sessions[former] = nil }
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
    public func endSession(_ digest: ArtefactDigest) async throws(StoreFault) -> Bool {
        state.withLock { state in state.sessions.removeValue(forKey: digest) != nil }
    }
}
