public import CounterfoilStore
public import Foundation

extension SQLStore {
    /// Takes the lease of the maintenance, or renews it, unless another server has it.
    public func takeMaintenanceLease(
        _ holder: LeaseHolder, until end: Date, at now: Date
    ) async throws(StoreFault) -> Bool {
        try await commit { database in
            try database.takeLease("maintenance_lease", for: holder, until: end, at: now)
        }
    }

    /// Returns the lease of the maintenance, if this server has it.
    public func returnMaintenanceLease(_ holder: LeaseHolder) async throws(StoreFault) {
        _ = try await commit { database in
            try database.run("DELETE FROM maintenance_lease WHERE holder = ?", Data(holder.bytes))
        }
    }

    /// Returns true if a server uses the store: one has the lease of the maintenance, or continues to write heartbeats.
    ///
    /// Each server returns the lease when it stops, and another one takes it only at its next turn. Until then, the
    /// servers that run are known by their heartbeats. So the call waits for a heartbeat, for
    /// ``ServiceRecord/silenceLimit`` seconds. The time of the last one proves nothing: it can be that of a restored
    /// copy, or of a clock that was set.
    package func isServed() async throws(StoreFault) -> Bool {
        if try await maintenanceLease(at: now()) != nil { return true }
        let last = try await lastHeartbeat()
        let end = ContinuousClock.now + .seconds(ServiceRecord.silenceLimit)
        while .now < end {
            try? await Task.sleep(for: .milliseconds(100))
            guard !Task.isCancelled, try await lastHeartbeat() == last else { return true }
        }
        return false
    }

    /// Reads the lease of the maintenance; nil if no server has it at a time.
    public func maintenanceLease(at now: Date) async throws(StoreFault) -> MaintenanceLease? {
        try await read { database in
            // A later lease is from before the clock was set back.
            try database.first(
                "SELECT holder, expires_at FROM maintenance_lease WHERE expires_at > ?1 AND expires_at <= ?2",
                now.microseconds, now.microseconds + 600_000_000
            ) { columns in
                MaintenanceLease(holder: LeaseHolder(stored: try columns.bytes()), end: try columns.date())
            }
        }
    }

    private func lastHeartbeat() async throws(StoreFault) -> Date? {
        try await serviceRecord(since: now()).answeredAt
    }

    /// Deletes at most `rows` expired records of each kind, and returns the number of deleted records.
    ///
    /// The limit keeps the transaction short, so that other commits can run between two calls.
    public func deleteExpired(
        _ limits: ExpirationLimits, atMost rows: Int
    ) async throws(StoreFault) -> Int {
        try await commit(ending: Expiration.unusedClients.endings) { database in
            try Expiration.allCases.reduce(0) { removed, kind in
                try removed + database.remove(kind, by: limits, atMost: rows)
            }
        }
    }

    /// As ``deleteExpired(_:atMost:)``, with a transaction for each kind of record.
    ///
    /// On a database with several writers, a transaction that deletes rows of all kinds would hold locks that others
    /// wait for, and conflict with more of them.
    package func deleteExpiredSeparately(
        _ limits: ExpirationLimits, atMost rows: Int
    ) async throws(StoreFault) -> Int {
        var removed = 0
        for kind in Expiration.allCases {
            removed += try await commit(ending: kind.endings) { database in
                try database.remove(kind, by: limits, atMost: rows)
            }
        }
        return removed
    }
}

/// The kinds of records that expire, in the order in which they are deleted: a grant after its codes.
private enum Expiration: Sendable, CaseIterable {
    case codes
    case sessions
    case refreshTokens
    case grants
    case assertions
    case pushedRequests
    case deviceAuthorizations
    case initialAccessTokens
    case invitations
    case clientInvitations
    case clientQuestions
    case signUps
    case attempts
    case earlierNetworks
    case emailVerifications
    case userLinks
    case mails
    case keptAnswers
    case removedSubjects
    case activity
    case endings
    case unusedClients

    /// The endings of a deletion: what has expired has ended already, a client has not.
    var endings: DeclaredEndings { self == .unusedClients ? .sometimes(.client, .clientSecret, .consent) : .none }
}

extension SQLConnection {
    /// Deletes at most `rows` expired records of a kind, and returns their number.
    fileprivate func remove(_ kind: Expiration, by limits: ExpirationLimits, atMost rows: Int) throws -> Int {
        switch kind {
        case .codes: return try remove(.codes, before: limits.codesBefore, atMost: rows)
        case .sessions:
            let expired = try remove(.expiredSessions, before: limits.now, atMost: rows)
            return try expired + remove(.idleSessions, before: limits.sessionsIdleBefore, atMost: rows - expired)
        case .refreshTokens: return try removeRefreshTokens(limits, atMost: rows)
        case .grants: return try removeGrants(before: limits.grantsBefore, atMost: rows)
        case .assertions: return try remove(.assertions, before: limits.now, atMost: rows)
        case .pushedRequests: return try remove(.pushedRequests, before: limits.now, atMost: rows)
        case .deviceAuthorizations:
            return try remove(
                .deviceAuthorizations, before: limits.now - DeviceAuthorization.retention, atMost: rows)
        case .initialAccessTokens: return try remove(.initialAccessTokens, before: limits.now, atMost: rows)
        case .invitations: return try remove(.invitations, before: limits.now, atMost: rows)
        case .clientInvitations: return try remove(.clientInvitations, before: limits.now, atMost: rows)
        case .clientQuestions: return try remove(.clientQuestions, before: limits.now, atMost: rows)
        case .signUps: return try remove(.signUps, before: limits.now, atMost: rows)
        case .attempts: return try remove(.attempts, before: limits.now, atMost: rows)
        case .earlierNetworks:
            return try remove(.earlierNetworks, before: limits.now - EarlierNetwork.lifetime, atMost: rows)
        case .emailVerifications: return try remove(.emailVerifications, before: limits.now, atMost: rows)
        case .userLinks: return try remove(.userLinks, before: limits.now, atMost: rows)
        case .removedSubjects: return try remove(.removedSubjects, before: limits.now, atMost: rows)
        case .mails: return try remove(.mails, before: limits.now - NewMail.expiredRetention, atMost: rows)
        case .keptAnswers: return try remove(.keptAnswers, before: limits.now, atMost: rows)
        case .activity: return try remove(.activity, before: limits.now - ActivityHour.retention, atMost: rows)
        case .endings:
            try keepLastEnding()
            return try remove(.endings, before: limits.now - EndingsJournal.retention, atMost: rows)
        case .unusedClients: return try removeUnusedClients(limits, atMost: rows)
        }
    }
}

extension SQLConnection {
    /// Takes the lease of a table, or renews it, unless another server has it; returns true if the server has it.
    func takeLease(_ table: String, for holder: LeaseHolder, until end: Date, at now: Date) throws -> Bool {
        try run(
            """
            INSERT INTO \(table) (id, holder, expires_at) VALUES (1, ?1, ?2)
            ON CONFLICT (id) DO UPDATE SET holder = ?1, expires_at = ?2
            WHERE \(table).holder = ?1 OR \(table).expires_at <= ?3
                -- Such a lease is from before the clock was set back.
                OR \(table).expires_at > ?4
            """,
            Data(holder.bytes),
            end.microseconds,
            now.microseconds,
            (end + end.timeIntervalSince(now)).microseconds
        ) == 1
    }
}

/// A table, and the indexed timestamp column that decides when its rows are deleted.
///
/// The primary key of the table is a digest, except where it is a number, an identifier, or two columns.
struct TimedRows: Sendable, CaseIterable {
    private let table: String
    private let moment: String
    private let key: String
    /// The column of `expired_removal` for the moment, if a deletion is an ending unless the row has expired.
    fileprivate let limit: String?

    private init(table: String, moment: String, key: String = "digest", limit: String? = nil) {
        self.table = table
        self.moment = moment
        self.key = key
        self.limit = limit
    }

    static let codes = TimedRows(table: "codes", moment: "expires_at")
    static let expiredSessions = TimedRows(table: "sessions", moment: "expires_at", limit: "expired_before")
    static let idleSessions = TimedRows(table: "sessions", moment: "last_seen_at", limit: "unseen_since")
    static let assertions = TimedRows(table: "assertions", moment: "expires_at")
    static let pushedRequests = TimedRows(table: "pushed_requests", moment: "expires_at")
    static let deviceAuthorizations = TimedRows(table: "device_authorizations", moment: "expires_at")
    static let initialAccessTokens = TimedRows(
        table: "initial_access_tokens", moment: "expires_at", limit: "expired_before")
    static let invitations = TimedRows(table: "invitations", moment: "expires_at", limit: "expired_before")
    /// A user who manages a client has no time there.
    static let clientInvitations = TimedRows(
        table: "client_developers", moment: "expires_at", key: "client_id, person_id", limit: "expired_before")
    static let clientQuestions = TimedRows(
        table: "client_questions", moment: "expires_at", key: "client_id, username")
    static let signUps = TimedRows(table: "sign_ups", moment: "expires_at")
    static let attempts = TimedRows(table: "attempts", moment: "expires_at", key: "number")
    static let earlierNetworks = TimedRows(table: "earlier_networks", moment: "noted_at")
    static let emailVerifications = TimedRows(
        table: "email_verifications", moment: "expires_at", key: "person_id")
    static let userLinks = TimedRows(table: "user_links", moment: "expires_at")
    static let mails = TimedRows(table: "mails", moment: "expires_at", key: "id")
    static let keptAnswers = TimedRows(table: "kept_answers", moment: "expires_at")
    static let removedSubjects = TimedRows(table: "removed_subjects", moment: "expires_at", key: "pseudonym")
    /// The rows of one hour are deleted together.
    static let activity = TimedRows(table: "activity_counts", moment: "hour", key: "hour")
    static let endings = TimedRows(table: "endings", moment: "at", key: "number")
    static let allCases = [
        codes, expiredSessions, idleSessions, assertions, pushedRequests, deviceAuthorizations, initialAccessTokens,
        invitations, clientInvitations, clientQuestions, signUps, attempts, earlierNetworks, emailVerifications,
        userLinks, mails, keptAnswers, removedSubjects, activity, endings,
    ]

    /// The SQL statement that deletes at most ?2 rows with a timestamp before ?1.
    var removal: String {
        """
        DELETE FROM \(table) WHERE (\(key)) IN (SELECT \(key) FROM \(table) WHERE \(moment) < ?1 LIMIT ?2)
        """
    }

    /// The query whether a row has a timestamp before ?1.
    fileprivate var isAny: String { "SELECT EXISTS (SELECT 1 FROM \(table) WHERE \(moment) < ?1)" }
}

extension SQLConnection {
    /// Deletes at most `rows` rows with a timestamp before a moment, and returns their number.
    ///
    /// The triggers of endings read the moment in `expired_removal`, and do not record what has expired by then.
    fileprivate func remove(_ kind: TimedRows, before moment: Date, atMost rows: Int) throws -> Int {
        guard let limit = kind.limit else { return try run(kind.removal, moment.microseconds, rows) }
        guard rows > 0, try answers(kind.isAny, moment.microseconds) == [true] else { return 0 }
        try send("INSERT INTO expired_removal (\(limit)) VALUES (?)", moment.microseconds)
        let removed = try run(kind.removal, moment.microseconds, rows)
        try send("DELETE FROM expired_removal")
        return removed
    }

    /// Deletes expired and idle token families.
    ///
    /// It also sets `has_refresh_tokens` of their grants to 0, so that `removeGrants` can later delete the grants.
    fileprivate func removeRefreshTokens(_ limits: ExpirationLimits, atMost rows: Int) throws -> Int {
        var removed = 0
        // There is one query for each condition, so that each can use an index.
        for (condition, moment) in [
            ("expires_at < ?1", limits.now),
            ("resting_since < ?1 AND last_used_at < ?1", try idleBefore(limits)),
        ] {
            let grants = try all(
                "SELECT grant_number FROM refresh_tokens WHERE \(condition) LIMIT ?2", moment.microseconds,
                rows - removed
            ) { columns in try columns.integer() }
            for grant in grants {
                try send("DELETE FROM refresh_tokens WHERE grant_number = ?", grant)
                try send("UPDATE grants SET has_refresh_tokens = 0 WHERE number = ?", grant)
            }
            removed += grants.count
        }
        return removed
    }

    /// Returns the time since which a token family that is deleted was not used.
    ///
    /// `limits` allows for the policy of every client that the server could read. A client with a value that this
    /// version does not know is not among them.
    private func idleBefore(_ limits: ExpirationLimits) throws -> Date {
        let longest = try first(StoreQuery.longestIdleLifetime) { columns in try columns.optionalInteger() }
        guard let seconds = longest ?? nil else { return limits.refreshIdleBefore }
        return min(limits.refreshIdleBefore, limits.now.addingTimeInterval(-TimeInterval(seconds)))
    }

    /// Deletes grants that were revoked before `moment`, and unrevoked grants without refresh tokens that were last
    /// used before `moment`.
    ///
    /// The caller chooses `moment` so that no access token of these grants is still valid. A grant is kept while it has
    /// a code. An unrevoked grant is also kept while its session is stored and the client must be notified of the end
    /// of that session. The consent stays, because the user has not withdrawn it.
    fileprivate func removeGrants(before moment: Date, atMost rows: Int) throws -> Int {
        let over = try all(
            """
            SELECT number FROM grants
            WHERE (revoked_at < ?1 OR (has_refresh_tokens = 0 AND last_used_at < ?1))
                AND NOT EXISTS (SELECT 1 FROM codes WHERE codes.grant_id = grants.id)
                AND (revoked_at IS NOT NULL OR NOT EXISTS (
                    SELECT 1 FROM sessions JOIN clients ON clients.id = grants.client_id
                    WHERE sessions.id = grants.session_id AND clients.backchannel_logout_uri IS NOT NULL
                ))
            LIMIT ?2
            """,
            moment.microseconds,
            rows
        ) { columns in try columns.integer() }
        for number in over {
            try send("DELETE FROM refresh_tokens WHERE grant_number = ?", number)
            try send("DELETE FROM grants WHERE number = ?", number)
        }
        return over.count
    }
}
