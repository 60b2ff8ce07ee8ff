import CounterfoilProtocol
public import CounterfoilStore
public import Foundation

extension SQLStore {
    /// Reads a session with its user, even if the session has expired.
    public func session(_ digest: ArtefactDigest) async throws(StoreFault) -> SessionFacts? {
        try await read { database in
            try database.first(
                """
                SELECT \(Session.columns), \(User.columns)
                FROM sessions JOIN people ON people.id = sessions.person_id
                WHERE sessions.digest = ?
                """,
                Data(digest.bytes)
            ) { columns in
                SessionFacts(session: try Session(&columns), user: try User(&columns))
            }
        }
    }

    /// Begins a session for a user, if the password, the second factor, the passkey or the identity that was verified
    /// still holds.
    ///
    /// In the same transaction it ends the former session of the browser, and the least recently seen sessions of the
    /// user beyond `Session.limitPerUser`. If the former session belongs to the same user, the new session has the
    /// session ID (`sid`) of the former one.
    public func beginSession(
        _ session: Session,
        proving proof: SignInProof,
        replacing former: ArtefactDigest?,
        recording events: [AuditEvent]
    ) async throws(StoreFault) -> BeginSessionOutcome {
        try await commit(
            ending: Self.endings(proving: proof, replacing: former), recording: events
        ) { database in
            if let use = proof.secondFactor, try !database.holds(use, of: session.userID) {
                return try database.isActive(session.userID) ? .proofOutdated : .userNotActive
            }
            if let key = proof.key, try database.isUsed(key.challenge) { return .challengeUsed }
            let continued = try former.flatMap { try database.session($0, of: session.userID) }
                .flatMap(SessionIdentifier.init(_:))
            let id = continued ?? session.id
            let begun = try database.run(
                """
                INSERT INTO sessions
                    (digest, id, person_id, authenticated_at, methods, last_seen_at, expires_at, user_agent, source,
                     is_persistent)
                SELECT ?, ?, id, ?, ?, ?, ?, ?, ?, ? FROM people WHERE id = ? AND \(proof.condition) AND disabled_at IS NULL
                """,
                Data(session.digest.bytes),
                id.rawValue,
                session.authenticatedAt.microseconds,
                session.methods.stored,
                session.lastSeenAt.microseconds,
                session.expiresAt.microseconds,
                session.userAgent,
                session.source,
                session.isPersistent,
                session.userID.rawValue,
                proof.value
            )
            guard begun == 1 else {
                return try database.isActive(session.userID) ? .proofOutdated : .userNotActive
            }
            try database.send(
                "UPDATE people SET last_sign_in_at = ?2 WHERE id = ?1", session.userID.rawValue,
                session.authenticatedAt.microseconds)
            if case .passkey(let use) = proof { try database.recordChallenge(of: use) }
            if let key = proof.key { try database.record(key, in: session) }
            if case .identity(let id, _) = proof {
                try database.send(
                    "UPDATE user_identities SET last_used_at = ?2 WHERE id = ?1", id.rawValue,
                    session.lastSeenAt.microseconds)
            }
            if let use = proof.secondFactor { try database.record(use, of: session.userID) }
            if let former {
                _ = try database.endSessions("digest = ?1", [Data(former.bytes)], at: session.lastSeenAt)
            }
            let allowed: [(any SQLValue)?] = [
                session.userID.rawValue, Data(session.digest.bytes), Session.limitPerUser - 1,
            ]
            if try database.hasSurplusSessions(beside: allowed) {
                _ = try database.endSessions("digest IN (\(Session.surplus))", allowed, at: session.lastSeenAt)
            }
            return .begun(id)
        }
    }

    private static func endings(proving proof: SignInProof, replacing former: ArtefactDigest?) -> DeclaredEndings {
        switch proof.secondFactor {
        case .recoveryCode: .usually(.session, .grant, .recoveryCode)
        case .setup: .usually(.session, .grant, .secondFactor)
        case .code, .key, .remembered, .confirmed, nil:
            former == nil ? .sometimes(.session, .grant) : .usually(.session, .grant)
        }
    }

    /// Records the time of a request in a session, unless the session has ended or a later time is recorded.
    public func touchSession(_ digest: ArtefactDigest, at time: Date) async throws(StoreFault) {
        try await commit { database in
            _ = try database.run(
                "UPDATE sessions SET last_seen_at = ?2 WHERE digest = ?1 AND last_seen_at < ?2",
                Data(digest.bytes),
                time.microseconds
            )
        }
    }

    /// Ends the session with this digest; returns false if there is no such session.
    @discardableResult
    public func endSession(
        _ digest: ArtefactDigest, at time: Date, recording events: [AuditEvent]
    ) async throws(StoreFault) -> Bool {
        try await commit(ending: .usually(.session, .grant), recording: events) { database in
            try database.endSessions("digest = ?1", [Data(digest.bytes)], at: time) == 1
        }
    }

    /// Reads the sessions of a user, most recently seen first, including expired ones.
    public func sessions(of user: UserIdentifier) async throws(StoreFault) -> [Session] {
        try await read { database in
            try database.list(
                """
                SELECT \(Session.columns) FROM sessions WHERE sessions.person_id = ?
                ORDER BY sessions.last_seen_at DESC, sessions.authenticated_at DESC, sessions.digest
                """,
                user.rawValue,
                noting: unsupported,
                read: Session.init(_:)
            )
        }
    }

    /// Ends the session with this digest; returns false if the user has no such session.
    public func endSession(
        _ digest: ArtefactDigest,
        of user: UserIdentifier,
        at time: Date,
        recording events: [AuditEvent]
    ) async throws(StoreFault) -> Bool {
        try await commit(ending: .usually(.session, .grant), recording: events) { database in
            try database.endSessions(
                "digest = ?1 AND person_id = ?2", [Data(digest.bytes), user.rawValue], at: time) == 1
        }
    }

    /// Ends every session of a user except `kept`, revokes the grants that were not given in `kept` or are of a
    /// separate device, and returns the number of ended sessions.
    @discardableResult
    public func signOutEverywhere(
        _ user: UserIdentifier,
        except kept: ArtefactDigest?,
        at time: Date,
        recording events: [AuditEvent]
    ) async throws(StoreFault) -> Int {
        try await commit(ending: .usually(.session, .grant)) { database in
            try database.append(events)
            return try database.signOutEverywhere(user, except: kept, at: time)
        }
    }

    /// Deletes a session that has expired or is idle, revokes its grants to single-page apps, and queues logout
    /// notifications to its clients.
    ///
    /// The session may already be deleted while an active grant does not record its end (`session_ended_at`). In this
    /// case too, the call revokes the grants and queues the notifications.
    public func revokeDependents(
        ofSession session: SessionIdentifier, notSeenSince idle: Date, at time: Date
    ) async throws(StoreFault) {
        // Any holder of an old ID token can cause this call, so it takes the write lock only if there is something to
        // write.
        let isSomethingToEnd = try await read { database in
            try database.answers(Session.isOver, session.rawValue, time.microseconds, idle.microseconds)
        }
        guard isSomethingToEnd == [true] else { return }
        try await commit(ending: .usually(.session, .grant)) { database in
            try database.send(
                "DELETE FROM sessions WHERE id = ?1 AND (expires_at <= ?2 OR last_seen_at <= ?3)",
                session.rawValue,
                time.microseconds,
                idle.microseconds
            )
            if try !database.exists(session: session.rawValue) {
                try database.revokeDependents(ofSessions: "?1", [session.rawValue], at: time)
            }
        }
    }
}

extension SQLConnection {
    /// Ends every session of a user except `kept`, revokes the grants that were not given in `kept` or are of a
    /// separate device, and returns the number of ended sessions.
    func signOutEverywhere(_ user: UserIdentifier, except kept: ArtefactDigest?, at time: Date) throws -> Int {
        let keptID = try kept.flatMap { try session($0, of: user) }
        let ended =
            if let kept {
                try endSessions("person_id = ?1 AND digest <> ?2", [user.rawValue, Data(kept.bytes)], at: time)
            } else {
                try endSessions(of: user, at: time)
            }
        if let keptID {
            try revokeGrants(
                """
                \(Grant.isOfFirst)
                    AND (grants.session_id IS NULL OR grants.session_id <> ?2 OR grants.is_separate_device = 1)
                """,
                [user.rawValue, keptID], at: time)
        } else {
            try revokeGrants("\(Grant.isOfFirst) AND grants.session_id IS NOT NULL", [user.rawValue], at: time)
        }
        return ended
    }

    /// Ends every session of a user and returns their number.
    func endSessions(of user: UserIdentifier, at time: Date) throws -> Int {
        try endSessions("person_id = ?1", [user.rawValue], at: time)
    }

    /// Reads the identifier (`sid`) of a session of a user, which may be invalid; nil if there is none with this
    /// digest.
    fileprivate func session(_ digest: ArtefactDigest, of user: UserIdentifier) throws -> String? {
        try first(
            "SELECT id FROM sessions WHERE digest = ? AND person_id = ?", Data(digest.bytes), user.rawValue
        ) { columns in try columns.text() }
    }

    /// Returns true if sessions must end so that the user has at most `Session.limitPerUser` sessions.
    ///
    /// The parameters are those of `Session.surplus`. The new session counts towards the limit but never ends.
    fileprivate func hasSurplusSessions(beside allowed: [(any SQLValue)?]) throws -> Bool {
        try !all(Session.surplus, values: allowed) { columns in try columns.bytes() }.isEmpty
    }

    fileprivate func exists(session: String) throws -> Bool {
        try answers("SELECT EXISTS (SELECT 1 FROM sessions WHERE id = ?)", session) == [true]
    }

    /// Ends the sessions that match a condition and returns their number.
    ///
    /// It also revokes the dependents of each ended session, unless another session continues it under the same session
    /// ID (`sid`). No identifier of a session is parsed, so a session with an invalid one ends, too. The number of
    /// statements does not depend on the number of sessions, and only the last one has an answer.
    ///
    /// - Parameters:
    ///   - condition: A condition on columns of `sessions`, without the name of the table. The parameters in it have
    ///     numbers.
    ///   - values: The parameters.
    ///   - time: The end of the sessions.
    func endSessions(
        _ condition: String, _ values: [(any SQLValue)?], at time: Date
    ) throws -> Int {
        // The sessions name their dependents, so they are deleted last.
        try revokeDependents(
            ofSessions: """
                SELECT ended.id FROM (SELECT id FROM sessions WHERE \(condition)) AS ended
                WHERE NOT EXISTS (SELECT 1 FROM sessions WHERE sessions.id = ended.id AND (\(condition)) IS NOT TRUE)
                """, values, at: time)
        return try run("DELETE FROM sessions WHERE \(condition)", values: values)
    }

    /// Revokes the grants of sessions to single-page apps and those with an unused `device_code`, and queues logout
    /// notifications to the clients of the sessions.
    ///
    /// It marks each active grant with the end of the session, so that a second call does not notify a client again.
    ///
    /// - Parameters:
    ///   - sessions: A query for the identifiers of the sessions, or one of them.
    ///   - values: The parameters of the query, which have numbers in it.
    ///   - time: The end of the sessions.
    fileprivate func revokeDependents(
        ofSessions sessions: String, _ values: [(any SQLValue)?], at time: Date
    ) throws {
        let isNotMarked = "grants.session_id IN (\(sessions)) AND grants.session_ended_at IS NULL"
        let end = "?\(values.count + 1)"
        try send(
            """
            INSERT INTO logout_deliveries (client_id, person_id, session_id, attempts, due_at)
            SELECT DISTINCT grants.client_id, people.id, grants.session_id, 0, \(end)
            FROM \(Grant.withUser) JOIN clients ON clients.id = grants.client_id
            WHERE \(isNotMarked) AND grants.revoked_at IS NULL AND clients.backchannel_logout_uri IS NOT NULL
            """, values: values + [time.microseconds])
        try revokeGrants(
            "\(isNotMarked) AND (clients.type = 'spa' OR \(Grant.hasUnusedDeviceCode))", values, at: time)
        try send(
            "UPDATE grants SET session_ended_at = \(end) WHERE \(isNotMarked) AND revoked_at IS NULL",
            values: values + [time.microseconds])
    }

    /// Revokes the grants that match a condition on grants and clients, and counts the revocations for the clients.
    ///
    /// The parameters in the condition have numbers.
    func revokeGrants(_ condition: String, _ values: [(any SQLValue)?], at time: Date) throws {
        // Only these columns are read, and not parsed, so that a grant with a value that this version does not know, or
        // an invalid one, is revoked, too. The number of statements does not depend on the number of grants.
        let meant = """
            FROM \(Grant.withUser) JOIN clients ON clients.id = grants.client_id
            WHERE grants.revoked_at IS NULL AND \(condition)
            """
        try countRevocations(meant, values)
        try send(
            """
            UPDATE grants SET revoked_at = ?\(values.count + 1) WHERE number IN (SELECT grants.number \(meant))
            """, values: values + [time.microseconds])
    }
}

extension Session {
    /// Selects the digests of the sessions of user ?1, except session ?2 and the ?3 most recently seen of the others.
    static let surplus = """
        SELECT digest FROM sessions WHERE person_id = ?1 AND digest <> ?2
        ORDER BY last_seen_at DESC, authenticated_at DESC, digest LIMIT \(Int64.max) OFFSET ?3
        """

    /// Tests whether `revokeDependents` has something to do for session ?1.
    ///
    /// This is the case if the session has expired by ?2 or was not seen since ?3. It is also the case if the session
    /// is deleted and one of its active grants is not marked with the end of the session.
    static let isOver = """
        SELECT CASE WHEN EXISTS (SELECT 1 FROM sessions WHERE id = ?1)
            THEN EXISTS (SELECT 1 FROM sessions WHERE id = ?1 AND (expires_at <= ?2 OR last_seen_at <= ?3))
            ELSE EXISTS (
                SELECT 1 FROM grants WHERE session_id = ?1 AND revoked_at IS NULL AND session_ended_at IS NULL
            ) END
        """

    /// The column names, each with the name of the table as a prefix, for joins.
    static let columns = """
        sessions.digest, sessions.id, sessions.person_id, sessions.authenticated_at, sessions.methods,
        sessions.last_seen_at, sessions.expires_at, sessions.user_agent, sessions.source, sessions.is_persistent
        """

    init(_ columns: inout Columns) throws {
        columns.record = "session"
        self.init(
            digest: try columns.digest(),
            id: try columns.value(SessionIdentifier.init(_:)),
            userID: try columns.value(UserIdentifier.init(_:)),
            authenticatedAt: try columns.date(),
            methods: try columns.word(AuthenticationMethods.init(stored:)),
            lastSeenAt: try columns.date(),
            expiresAt: try columns.date(),
            userAgent: try columns.text(),
            source: try columns.text(),
            isPersistent: try columns.flag()
        )
    }
}
