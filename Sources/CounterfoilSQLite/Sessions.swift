public import CounterfoilServer
public import Foundation
import GRDB

extension SQLiteStore: SessionStore {
    /// The session of a digest with its person, also when it has expired.
    public func session(_ digest: ArtefactDigest) async throws(StoreFault) -> SessionFacts? {
        try read { database in
            try database.first(
                """
                SELECT \(Session.columns), \(Person.columns)
                FROM sessions JOIN people ON people.id = sessions.person_id
                WHERE sessions.digest = ?
                """,
                Data(digest.bytes)
            ) { columns in
                SessionFacts(session: try Session(&columns), person: try Person(&columns))
            }
        }
    }

    /// Begins a session and ends the one that the same browser had before, in one step.
    public func beginSession(
        _ session: Session,
        replacing former: ArtefactDigest?
    ) async throws(StoreFault) -> BeginSessionOutcome {
        try await commits.commit { database in
            let begun = try database.run(
                """
                INSERT INTO sessions (digest, person_id, authenticated_at, last_seen_at, expires_at)
                SELECT ?, people.id, ?, ?, ? FROM people WHERE people.id = ? AND people.disabled_at IS NULL
                """,
                Data(session.digest.bytes),
                session.authenticatedAt.microseconds,
                session.lastSeenAt.microseconds,
                session.expiresAt.microseconds,
                session.personID.rawValue
            )
            guard begun == 1 else { return .personGone }
            if let former {
                try database.run("DELETE FROM sessions WHERE digest = ?", Data(former.bytes))
            }
            return .begun
        }
    }

    /// Notes that a browser was seen; does nothing when the session has ended, or was seen later already.
    public func touchSession(_ digest: ArtefactDigest, at time: Date) async throws(StoreFault) {
        try await commits.commit { database in
            _ = try database.run(
                "UPDATE sessions SET last_seen_at = ?2 WHERE digest = ?1 AND last_seen_at < ?2",
                Data(digest.bytes),
                time.microseconds
            )
        }
    }

    /// Ends a session; true when there was one.
    @discardableResult
    public func endSession(_ digest: ArtefactDigest) async throws(StoreFault) -> Bool {
        try await commits.commit { database in
            try database.run("DELETE FROM sessions WHERE digest = ?", Data(digest.bytes)) == 1
        }
    }
}

extension Session {
    /// The columns with their table, so that a join can read them.
    static let columns = """
        sessions.digest, sessions.person_id, sessions.authenticated_at, sessions.last_seen_at, sessions.expires_at
        """

    init(_ columns: inout Columns) throws {
        self.init(
            digest: try columns.digest(),
            personID: try columns.value(PersonIdentifier.init(_:)),
            authenticatedAt: try columns.date(),
            lastSeenAt: try columns.date(),
            expiresAt: try columns.date()
        )
    }
}
