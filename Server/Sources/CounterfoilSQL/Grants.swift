@_spi(Counterfoil) import CounterfoilProtocol
public import CounterfoilStore
public import Foundation

extension SQLStore {
    /// Stores the grant, the code and the consent of an approval in one transaction.
    ///
    /// It stores nothing if the consent page or the pushed request was already answered, or if the client, user,
    /// session or consent has changed since the page was shown, or if records of a deleted client with the identifier
    /// are left. A `device_code` replaces its device authorization,
    /// which must be pending.
    public func recordConsent(_ approval: Approval) async throws(StoreFault) -> RecordConsentOutcome {
        try await commit(ending: .sometimes(.consent)) { database in
            // The transaction has held the write lock since it began, so these facts stay true until the commit.
            let facts = try database.facts(for: approval)
            guard !facts.isClientBeingRemoved else { return .clientDeleted }
            // The grant of each approval has a random identifier, so an answer with this grant is this approval.
            if let answered = facts.answeredGrant {
                return answered == approval.grant.id.rawValue ? .recorded : .alreadyAnswered
            }
            guard let revision = facts.clientRevision ?? approval.newClient?.revision else { return .clientDeleted }
            guard facts.hasPushedRequest else { return .pushedRequestGone }
            guard revision == approval.clientRevision else { return .clientChanged }
            // Another user may have allowed another version of the document first, or an administrator adopted it.
            if let shown = approval.newClient, let stored = try database.client(shown.id) {
                guard approval.appearance == ClientAppearance(of: stored) else { return .clientChanged }
            }
            guard facts.isUserActive else { return .userNotActive }
            guard facts.isSessionAlive else { return .sessionEnded }
            guard approval.holds(beside: facts.former) else { return .consentWithdrawn }
            if approval.code.isDeviceCode {
                guard try database.replaceDevice(by: approval.code, of: approval.grant) else {
                    return .deviceNotPending
                }
            }
            if facts.clientRevision == nil, let client = approval.newClient {
                try database.insert(client)
                if let event = approval.newClientEvent { try database.append(event) }
            }
            try database.insert(approval.grant)
            try database.insert(approval.code)
            try database.keep(approval.consent(after: facts.former), with: facts.unsupportedLines)
            if let pushed = approval.pushedRequest {
                try database.send("DELETE FROM pushed_requests WHERE digest = ?", Data(pushed.bytes))
            }
            if approval.pkce.isException { try database.countPKCEException(approval) }
            try database.append(approval.events, ofExisting: approval.grant.userID)
            return .recorded
        }
    }

    /// Reads a code with its grant and user, even if the code was used or has expired.
    public func code(_ digest: ArtefactDigest) async throws(StoreFault) -> CodeFacts? {
        try await read { database in try database.code(digest) }
    }

    /// Redeems a code, updates the time of use of its grant and consent, and stores the token family if one is given.
    ///
    /// It refuses a code that was used, had too many failed redemptions, or has a revoked grant or a disabled user. It
    /// also refuses a `device_code` whose session has ended or expired. The caller must have checked that the code has
    /// not expired. A call with the attempt of the redemption succeeds again, and writes nothing.
    public func consumeCode(
        _ digest: ArtefactDigest,
        beginning family: RefreshFamily?,
        givingAccessUntil end: Date,
        attempt: CommitAttempt,
        at time: Date
    ) async throws(StoreFault) -> ConsumeCodeOutcome {
        try await commit { database in
            let (key, mark) = (Data(digest.bytes), Data(attempt.bytes))
            // RFC 6749 §4.1.2: a code is used at most once. Of several concurrent redemptions, only one meets this
            // condition.
            try database.send(
                """
                UPDATE codes SET used_at = ?2, attempt = ?3
                WHERE digest = ?1 AND used_at IS NULL AND failed_redemptions < \(CodeRecord.failedRedemptionLimit)
                    AND EXISTS (
                        SELECT 1 FROM \(Grant.withUser)
                        WHERE grants.id = codes.grant_id AND grants.revoked_at IS NULL AND people.disabled_at IS NULL
                            AND (codes.redirect_uri IS NOT NULL OR EXISTS (
                                SELECT 1 FROM sessions
                                WHERE sessions.id = grants.session_id AND sessions.person_id = people.id
                                    AND sessions.expires_at > ?2
                            ))
                    )
                """,
                key,
                time.microseconds,
                mark
            )
            // The mark of the attempt takes the place of an answer, so the whole redemption is one round trip.
            try database.send(
                """
                UPDATE grants SET last_used_at = max(last_used_at, ?3), has_refresh_tokens = ?4,
                    access_until = max(coalesce(access_until, ?5), ?5)
                WHERE number = (SELECT grants.number \(CodeRecord.redeemed))
                """,
                key,
                mark,
                time.microseconds,
                family != nil,
                end.microseconds
            )
            try database.send(
                """
                UPDATE consents SET last_used_at = max(coalesce(last_used_at, ?3), ?3)
                WHERE (person_id, client_id) = (SELECT people.id, grants.client_id \(CodeRecord.redeemed))
                """,
                key,
                mark,
                time.microseconds
            )
            try database.send(
                ClientUse.record(of: "(SELECT grants.client_id \(CodeRecord.redeemed))", at: "?3"), key, mark,
                time.microseconds)
            if let family { try database.insert(family, ofRedeemed: key, by: mark) }
            let facts = try database.answersLast(
                """
                SELECT codes.used_at IS NOT NULL, codes.attempt IS NOT NULL AND codes.attempt = ?2,
                    grants.revoked_at IS NULL AND people.disabled_at IS NULL
                FROM \(Grant.withUser) JOIN codes ON codes.grant_id = grants.id WHERE codes.digest = ?1
                """, key, mark)
            guard facts.first == true else { return .gone }
            guard facts[1] else { return .alreadyUsed }
            return facts[2] ? .consumed : .gone
        }
    }

    /// Counts a redemption with a wrong `code_verifier`, up to `CodeRecord.failedRedemptionLimit`, and returns the
    /// count; 0 if the code does not exist.
    @discardableResult
    public func countFailedRedemption(_ digest: ArtefactDigest) async throws(StoreFault) -> Int {
        try await commit { database in
            let key = Data(digest.bytes)
            try database.send(
                """
                UPDATE codes SET failed_redemptions = failed_redemptions + 1
                WHERE digest = ? AND used_at IS NULL AND failed_redemptions < \(CodeRecord.failedRedemptionLimit)
                """,
                key
            )
            return try database.first("SELECT failed_redemptions FROM codes WHERE digest = ?", key) { columns in
                Int(try columns.integer())
            } ?? 0
        }
    }

    /// Reads a grant, even if it is revoked.
    public func grant(_ id: GrantIdentifier) async throws(StoreFault) -> Grant? {
        try await read { database in
            try database.first(
                "SELECT \(Grant.columns) FROM \(Grant.withUser) WHERE grants.id = ?",
                id.rawValue,
                read: Grant.init(_:)
            )
        }
    }

    /// Reads a grant with its user, even if the grant is revoked or the user is disabled.
    ///
    /// Returns nil if the grant does not exist, for example because its client was deleted.
    public func grantFacts(_ id: GrantIdentifier) async throws(StoreFault) -> GrantFacts? {
        try await read { database in
            try database.first(
                """
                SELECT \(Grant.columns), \(User.columns),
                    EXISTS (SELECT 1 FROM clients WHERE id = grants.client_id AND suspended_at IS NOT NULL)
                FROM \(Grant.withUser) WHERE grants.id = ?
                """,
                id.rawValue
            ) { columns in
                GrantFacts(
                    grant: try Grant(&columns), user: try User(&columns), isClientSuspended: try columns.flag())
            }
        }
    }

    /// Reads at most `limit` grants of a user with their token families, in the order of their clients and identifiers.
    public func grants(
        of user: UserIdentifier, after last: GrantPosition?, limit: Int
    ) async throws(StoreFault) -> [GrantWithTokens] {
        try await read { database in
            try database.list(
                Grant.page, user.rawValue, last?.clientID.rawValue ?? "", last?.id.rawValue ?? "", atMost: limit,
                noting: unsupported
            ) { columns in
                let grant = try Grant(&columns)
                let accessUntil = try columns.optionalDate()
                return GrantWithTokens(
                    grant: grant, family: try columns.flag() ? try RefreshFamily(&columns) : nil,
                    accessUntil: accessUntil)
            }
        }
    }

    /// Revokes a grant, which invalidates its codes and tokens.
    ///
    /// The consent keeps only what the remaining grants allow, and is deleted if no grant remains. The refresh
    /// statistics of the client count the revocation. With `RevocationReason.refreshReuse` they also count a reuse.
    @discardableResult
    public func revokeGrant(
        _ id: GrantIdentifier,
        because reason: RevocationReason,
        at time: Date,
        recording events: [AuditEvent]
    ) async throws(StoreFault) -> RevokeGrantOutcome {
        try await commit(ending: .usually(.grant, .consent), recording: events) { database in
            let grant = try database.revocableGrant("grants.id = ?", id.rawValue)
            guard let grant else { return .notFound }
            guard grant.revokedAt == nil else { return .alreadyRevoked }
            try database.revoke(grant, because: reason, at: time)
            return .revoked
        }
    }
}

/// The columns of a grant that a revocation needs, so that a grant with a value that this version does not know can be
/// revoked.
struct RevocableGrant {
    let revoked: RevokedGrant
    let revokedAt: Date?
}

/// The facts that decide whether an approval can be recorded, read in one query.
private struct ApprovalFacts {
    /// The grant of the approval that answered the page; nil if none has.
    let answeredGrant: String?
    let clientRevision: Int?
    /// Whether a deleted client with this identifier has records that are not deleted yet.
    let isClientBeingRemoved: Bool
    /// Whether the client still has the pushed request; also true if the request was not pushed.
    let hasPushedRequest: Bool
    let isUserActive: Bool
    let isSessionAlive: Bool
    /// The lines of the former consent in a form that this version does not know.
    let unsupportedLines: [String]
    let former: Consent?
}

extension Approval {
    /// A query that returns one row with the facts that decide whether an approval can be recorded.
    ///
    /// It looks up each fact by a key.
    static let facts = """
        SELECT (SELECT grant_id FROM codes WHERE interaction = ?1),
            (SELECT revision FROM clients WHERE id = ?2),
            EXISTS (SELECT 1 FROM client_removals WHERE id = ?2),
            ?8 = 0 OR EXISTS (
                SELECT 1 FROM pushed_requests WHERE digest = ?7 AND client_id = ?2 AND expires_at > ?5
            ),
            EXISTS (SELECT 1 FROM people WHERE id = ?3 AND disabled_at IS NULL),
            EXISTS (
                SELECT 1 FROM sessions JOIN people ON people.id = sessions.person_id
                WHERE sessions.id = ?4 AND sessions.person_id = ?3 AND sessions.expires_at > ?5
                    AND \(User.hash) = ?6
            ),
            coalesce(consents.remembered_at, ''), consents.person_id IS NOT NULL, \(Consent.columns)
        FROM (SELECT 1) AS one LEFT JOIN consents ON consents.person_id = ?3 AND consents.client_id = ?2
        """
}

extension SQLConnection {
    /// Reads a code with its grant and user.
    func code(_ digest: ArtefactDigest) throws -> CodeFacts? {
        try first(
            """
            SELECT \(CodeRecord.columns), \(Grant.columns), \(User.columns)
            FROM \(Grant.withUser) JOIN codes ON codes.grant_id = grants.id
            WHERE codes.digest = ?
            """,
            Data(digest.bytes)
        ) { columns in
            CodeFacts(code: try CodeRecord(&columns), grant: try Grant(&columns), user: try User(&columns))
        }
    }

    /// Revokes a grant that is not revoked yet, and reduces the consent to what the remaining grants allow.
    func revoke(_ grant: RevocableGrant, because reason: RevocationReason, at time: Date) throws {
        try send("UPDATE grants SET revoked_at = ?2 WHERE id = ?1", grant.revoked.id.rawValue, time.microseconds)
        try countRefresh(of: grant.revoked.clientID, reuseAt: reason == .refreshReuse ? time : nil, revocations: 1)
        try followConsent(of: grant.revoked.userID, to: grant.revoked.clientID)
    }

    /// Reads the first grant that matches a condition.
    func revocableGrant(
        _ condition: String, _ value: any SQLValue
    ) throws -> RevocableGrant? {
        try first(
            "SELECT grants.id, people.id, grants.client_id, grants.revoked_at FROM \(Grant.withUser) WHERE \(condition)",
            value
        ) { columns in
            let revoked = RevokedGrant(
                id: try columns.value(GrantIdentifier.init(_:)),
                userID: try columns.value(UserIdentifier.init(_:)),
                clientID: try columns.value(ClientIdentifier.init(_:)))
            return RevocableGrant(revoked: revoked, revokedAt: try columns.optionalDate())
        }
    }

    fileprivate func facts(for approval: Approval) throws -> ApprovalFacts {
        let facts = try first(
            Approval.facts,
            Data(approval.code.interaction.bytes),
            approval.grant.clientID.rawValue,
            approval.grant.userID.rawValue,
            approval.grant.sessionID?.rawValue,
            approval.grant.createdAt.microseconds,
            approval.passwordHash.compared,
            approval.pushedRequest.map { Data($0.bytes) },
            approval.pushedRequest != nil
        ) { columns in
            ApprovalFacts(
                answeredGrant: try columns.optionalText(),
                clientRevision: try columns.optionalInteger().map(Int.init),
                isClientBeingRemoved: try columns.flag(),
                hasPushedRequest: try columns.flag(),
                isUserActive: try columns.flag(),
                isSessionAlive: try columns.flag(),
                unsupportedLines: Consent.rememberedLines(try columns.text()).unsupported,
                former: try columns.flag() ? try Consent(&columns) : nil
            )
        }
        guard let facts else { throw StoreFault.damaged("a query that always returns a row returned none") }
        return facts
    }

    fileprivate func countPKCEException(_ approval: Approval) throws {
        try send(
            """
            INSERT INTO pkce_exceptions AS counted (client_id, slot, count, last_at) VALUES (?1, ?2, 1, ?3)
            ON CONFLICT (client_id, slot) DO UPDATE SET
                count = counted.count + 1, last_at = max(counted.last_at, excluded.last_at)
            """, approval.grant.clientID.rawValue, counterSlot, approval.grant.createdAt.microseconds)
    }
}
