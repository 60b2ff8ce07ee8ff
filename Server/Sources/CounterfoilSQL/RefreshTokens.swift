public import CounterfoilProtocol
public import CounterfoilStore
public import Foundation

extension SQLStore {
    /// Reads a token family with its grant and user, even if the grant is revoked or the user is disabled.
    public func refreshFacts(_ digest: ArtefactDigest) async throws(StoreFault) -> RefreshFacts? {
        try await read { database in
            try database.first(StoreQuery.refreshFacts, Data(digest.bytes)) { columns in
                RefreshFacts(
                    family: try RefreshFamily(&columns), grant: try Grant(&columns), user: try User(&columns))
            }
        }
    }

    /// Records a refresh, if the generation of the token family and the scopes of its grant still equal those in
    /// `facts`.
    ///
    /// The grant and the consent get a new time of use only if the stored time is at least `Grant.useResolution` old.
    /// Other refreshes change one row and no index. A call with the attempt that last changed the family
    /// succeeds again, and writes nothing.
    public func recordRefresh(
        _ facts: RefreshFacts, _ step: RefreshStep, givingAccessUntil end: Date, attempt: CommitAttempt, now: Date,
        recording events: [AuditEvent]
    ) async throws(StoreFault) -> RecordRefreshOutcome {
        try await commit { database in
            // RFC 9700 §4.14.2: of several concurrent rotations of one token, only one meets the condition on the
            // generation.
            let values = facts.values(attempt: attempt, now: now)
            if now.timeIntervalSince(facts.grant.lastUsedAt) >= Grant.useResolution {
                try database.noteUse(of: facts, by: step, givingAccessUntil: end, values)
            }
            guard try database.record(step, of: facts, values, andNothingElse: events.isEmpty) else {
                guard let isAttempt = try database.isLast(attempt, of: facts.family) else { return .gone }
                return isAttempt ? .recorded : .changedMeanwhile
            }
            try database.append(events)
            return .recorded
        }
    }

    /// Reads the numbers of retried refreshes, token reuses and revoked grants of a client; all are 0 at first.
    public func refreshStatistics(of client: ClientIdentifier) async throws(StoreFault) -> RefreshStatistics {
        try await read { database in
            try database.first(
                "\(RefreshStatistics.sums) WHERE client_id = ?", client.rawValue,
                read: RefreshStatistics.init(_:)) ?? RefreshStatistics()
        }
    }

    /// Reads the sums of the refresh statistics of all clients, with the time of the last token reuse.
    public func refreshStatistics() async throws(StoreFault) -> RefreshStatistics {
        try await read { database in
            try database.first(RefreshStatistics.sums, read: RefreshStatistics.init(_:))
                ?? RefreshStatistics()
        }
    }
}

extension StoreQuery {
    /// Selects a token family by its digest, with its grant and its user.
    ///
    /// The tables are joined by integer keys.
    package static let refreshFacts = """
        SELECT \(RefreshFamily.columns), \(Grant.columns), \(User.columns)
        FROM \(Grant.withUser) JOIN refresh_tokens ON refresh_tokens.grant_number = grants.number
        WHERE refresh_tokens.digest = ?
        """
}

extension SQLConnection {
    /// Stores the token family of a code that was redeemed by an attempt, unless it is stored.
    func insert(_ family: RefreshFamily, ofRedeemed code: Data, by mark: Data) throws {
        try send(
            """
            INSERT INTO refresh_tokens (
                digest, grant_number, generation, rotated_at, repeats, last_used_at, expires_at, resting_since,
                key_thumbprint
            )
            SELECT ?3, grants.number, ?4, ?5, ?6, ?7, ?8, ?7, ?9 \(CodeRecord.redeemed)
            ON CONFLICT (grant_number) DO NOTHING
            """,
            code,
            mark,
            Data(family.digest.bytes),
            family.generation,
            family.rotatedAt.microseconds,
            family.repeats,
            family.lastUsedAt.microseconds,
            family.expiresAt.microseconds,
            family.keyThumbprint?.rawValue
        )
    }

    /// Adds counts to the refresh statistics of a client, unless it is deleted; a reuse is counted if `reuseAt` is
    /// given.
    func countRefresh(of client: ClientIdentifier, repeats: Int = 0, reuseAt: Date? = nil, revocations: Int = 0) throws
    {
        try countRefresh(of: client.rawValue, repeats: repeats, reuseAt: reuseAt, revocations: revocations)
    }

    /// Counts for the client with an identifier, which may be invalid.
    func countRefresh(of client: String, repeats: Int = 0, reuseAt: Date? = nil, revocations: Int = 0) throws {
        try send(
            """
            INSERT INTO refresh_statistics AS counted (client_id, slot, repeats, reuses, last_reuse_at, revocations)
            SELECT ?1, ?2, ?3, ?4, ?5, ?6 WHERE EXISTS (SELECT 1 FROM clients WHERE id = ?1)
            ON CONFLICT (client_id, slot) DO UPDATE SET
                repeats = counted.repeats + excluded.repeats,
                reuses = counted.reuses + excluded.reuses,
                last_reuse_at = max(
                    coalesce(counted.last_reuse_at, excluded.last_reuse_at),
                    coalesce(excluded.last_reuse_at, counted.last_reuse_at)),
                revocations = counted.revocations + excluded.revocations
            """, client, counterSlot, repeats, reuseAt == nil ? 0 : 1, reuseAt?.microseconds, revocations)
    }

    /// Adds revocations to the refresh statistics of the clients of grants.
    ///
    /// - Parameters:
    ///   - grants: The part of a query from `FROM` on that selects existing grants before they are revoked.
    ///   - values: The parameters of the query, which have numbers in it.
    func countRevocations(_ grants: String, _ values: [(any SQLValue)?]) throws {
        try send(
            """
            INSERT INTO refresh_statistics AS counted (client_id, slot, repeats, reuses, revocations)
            SELECT grants.client_id, ?\(values.count + 1), 0, 0, count(*) \(grants)
            GROUP BY grants.client_id
            ON CONFLICT (client_id, slot) DO UPDATE SET revocations = counted.revocations + excluded.revocations
            """, values: values + [counterSlot])
    }

    /// Applies a step to a token family; returns false if the family does not meet a condition of the step.
    ///
    /// The conditions are those of `RefreshFamily.condition(of:)`.
    fileprivate func record(
        _ step: RefreshStep, of facts: RefreshFacts, _ values: [(any SQLValue)?], andNothingElse isAll: Bool
    ) throws -> Bool {
        switch step {
        case .advance(let next):
            return try run(RefreshFamily.advance, values: values + [next], isLast: isAll) == 1
        case .bind(let key, let next):
            return try run(RefreshFamily.binding, values: values + [next, key.rawValue], isLast: isAll) == 1
        case .stay:
            return try run(RefreshFamily.stay, values: values, isLast: isAll) == 1
        case .repeat:
            guard try run(RefreshFamily.repetition, values: values) == 1 else { return false }
            try countRefresh(of: facts.grant.clientID, repeats: 1)
            return true
        }
    }

    private func run(_ sql: String, values: [(any SQLValue)?], isLast: Bool) throws -> Int {
        try isLast ? runLast(sql, values: values) : run(sql, values: values)
    }

    /// Updates the time of use of a grant and its consent, and postpones the idle expiry of its token family, if the
    /// family meets the conditions of a step.
    ///
    /// The step follows. It is the only statement with an answer, so the whole refresh is one round trip.
    fileprivate func noteUse(
        of facts: RefreshFacts, by step: RefreshStep, givingAccessUntil end: Date, _ values: [(any SQLValue)?]
    ) throws {
        let family = "FROM refresh_tokens WHERE \(RefreshFamily.condition(of: step))"
        try send(
            """
            UPDATE grants SET last_used_at = ?3, access_until = max(coalesce(access_until, ?7), ?7)
            WHERE number = (SELECT grant_number \(family)) AND last_used_at < ?3
            """, values: values + [end.microseconds])
        try send(
            """
            UPDATE consents SET last_used_at = max(coalesce(last_used_at, ?3), ?3)
            WHERE person_id = ?7 AND client_id = ?8 AND EXISTS (SELECT 1 \(family))
            """, values: values + [facts.user.id.rawValue, facts.grant.clientID.rawValue])
        try send(
            ClientUse.record(of: "?7", at: "?3", if: "EXISTS (SELECT 1 \(family))"),
            values: values + [facts.grant.clientID.rawValue])
        try send(
            """
            UPDATE refresh_tokens SET resting_since = ?3
            WHERE \(RefreshFamily.condition(of: step)) AND resting_since <= ?3 - \(RefreshFamily.restResolution)
            """, values: values)
    }

    /// Returns true if an attempt was the last to change a token family; nil if the family does not exist, its grant is
    /// revoked or its user is disabled.
    fileprivate func isLast(_ attempt: CommitAttempt, of family: RefreshFamily) throws -> Bool? {
        try answers(
            """
            SELECT refresh_tokens.last_attempt IS NOT NULL AND refresh_tokens.last_attempt = ?2
            FROM \(Grant.withUser) JOIN refresh_tokens ON refresh_tokens.grant_number = grants.number
            WHERE refresh_tokens.digest = ?1 AND grants.revoked_at IS NULL AND people.disabled_at IS NULL
            """, Data(family.digest.bytes), Data(attempt.bytes)
        ).first
    }
}

extension RefreshFamily {
    /// The minimum time, in microseconds, between two updates of `resting_since`, the indexed column that finds idle
    /// families.
    ///
    /// The grant records at most one use in `Grant.useResolution`, and only a recorded use updates `resting_since`.
    /// `Grant.useResolution` and this time add up to one hour, so `resting_since` is at most one hour before
    /// `last_used_at`.
    fileprivate static let restResolution = Int64((3600 - Grant.useResolution) * 1_000_000)

    private static let rotation = "generation = ?7, rotated_at = ?3, repeats = 0, last_used_at = max(last_used_at, ?3)"

    fileprivate static let advance = change(rotation, if: isUnchanged)
    fileprivate static let binding = change("\(rotation), key_thumbprint = ?8", if: "\(isUnchanged) AND \(isUnbound)")
    fileprivate static let stay = change("last_used_at = max(last_used_at, ?3)", if: isUnchanged)
    fileprivate static let repetition = change(
        "repeats = repeats + 1, last_used_at = max(last_used_at, ?3)", if: "\(isUnchanged) AND \(mayRepeat)")

    /// Returns the statement that records a step and its attempt in a token family that meets a condition.
    private static func change(_ change: String, if condition: String) -> String {
        "UPDATE refresh_tokens SET \(change), last_attempt = ?6 WHERE \(condition)"
    }

    /// Returns the condition on which a step is recorded, with the parameters of `RefreshFacts.values`.
    fileprivate static func condition(of step: RefreshStep) -> String {
        switch step {
        case .advance, .stay: isUnchanged
        case .bind: "\(isUnchanged) AND \(isUnbound)"
        case .repeat: "\(isUnchanged) AND \(mayRepeat)"
        }
    }

    /// The condition that the generation of the token family and the scopes of its grant are still those that were
    /// read, that the grant is not revoked, and that the user is not disabled.
    private static let isUnchanged = """
        digest = ?1 AND generation = ?2 AND (last_attempt IS NULL OR last_attempt <> ?6) AND EXISTS (
            SELECT 1 FROM \(Grant.withUser)
            WHERE grants.number = refresh_tokens.grant_number AND grants.scope = ?4 AND grants.claim_scope = ?5
                AND grants.revoked_at IS NULL AND people.disabled_at IS NULL
        )
        """
    /// The condition that the token family is bound to no key.
    private static let isUnbound = "key_thumbprint IS NULL"
    /// The condition that fewer repeats than the limit are stored, or that `repeatPause` has passed since the last use.
    private static let mayRepeat =
        "(repeats < \(repeatLimit) OR last_used_at <= ?3 - \(Int64(repeatPause * 1_000_000)))"

    /// The columns, qualified with their tables, for a join with grants.
    static let columns = """
        refresh_tokens.digest, grants.id, refresh_tokens.key_thumbprint, refresh_tokens.generation, refresh_tokens.rotated_at,
        refresh_tokens.repeats, refresh_tokens.last_used_at, refresh_tokens.expires_at
        """

    init(_ columns: inout Columns) throws {
        columns.record = "token family"
        self.init(
            digest: try columns.digest(),
            grantID: try columns.value(GrantIdentifier.init(_:)),
            keyThumbprint: try columns.optionalForm(KeyThumbprint.init(_:)),
            generation: Int(try columns.integer()),
            rotatedAt: try columns.date(),
            repeats: Int(try columns.integer()),
            lastUsedAt: try columns.date(),
            expiresAt: try columns.date()
        )
    }
}

extension RefreshFacts {
    /// The parameters of a step: the token family and its generation, the time, the scopes, and the attempt.
    fileprivate func values(attempt: CommitAttempt, now: Date) -> [(any SQLValue)?] {
        [
            Data(family.digest.bytes), family.generation, now.microseconds, grant.scope.description,
            grant.claimScope.description, Data(attempt.bytes),
        ]
    }
}

extension RefreshStatistics {
    /// A query for the sums of the rows of all clients, to which a condition can be added.
    fileprivate static let sums = """
        SELECT CAST(coalesce(sum(repeats), 0) AS bigint), CAST(coalesce(sum(reuses), 0) AS bigint),
            max(last_reuse_at), CAST(coalesce(sum(revocations), 0) AS bigint)
        FROM refresh_statistics
        """

    fileprivate init(_ columns: inout Columns) throws {
        self.init()
        repeats = Int(try columns.integer())
        reuses = Int(try columns.integer())
        lastReuseAt = try columns.optionalDate()
        revocations = Int(try columns.integer())
    }
}
