public import CounterfoilProtocol
public import CounterfoilStore
public import Foundation

extension SQLStore {
    /// Reads the grants of a user that still give access, most recently used first, with their number.
    public func appSignIns(
        of user: UserIdentifier, at time: Date, idle: DefaultIdleLifetimes, limit: Int
    ) async throws(StoreFault) -> AppSignIns {
        try await read { database in
            let count = try database.first(
                AppSignIn.count, user.rawValue, time.microseconds, idle.inBrowser, idle.elsewhere
            ) { columns in Int(try columns.integer()) }
            let recent = try database.list(
                AppSignIn.recent, user.rawValue, time.microseconds, idle.inBrowser, idle.elsewhere, atMost: limit,
                noting: unsupported
            ) { columns in
                let lastUsedAt = try columns.date()
                return AppSignIn(
                    grant: try Grant(&columns), client: try RegisteredClient(&columns), lastUsedAt: lastUsedAt)
            }
            return AppSignIns(recent: recent, count: count ?? 0)
        }
    }

    /// Reads what revoked grants of a user have left behind that is valid at a time, or was issued shortly before.
    public func leftoverAccess(
        of user: UserIdentifier, to client: ClientIdentifier?, under grant: GrantIdentifier?, at time: Date
    ) async throws(StoreFault) -> [LeftoverAccess] {
        try await read { database in
            try database.list(
                LeftoverAccess.ofUser, user.rawValue, time.microseconds, client?.rawValue ?? "", grant?.rawValue ?? "",
                noting: unsupported, read: LeftoverAccess.init(_:))
        }
    }

    /// Revokes a grant of a user; the grant of another user is not found.
    public func revokeGrant(
        _ id: GrantIdentifier, of user: UserIdentifier, because reason: RevocationReason, at time: Date,
        recording events: [AuditEvent]
    ) async throws(StoreFault) -> RevokeGrantOutcome {
        try await commit(ending: .usually(.grant, .consent), recording: events) { database in
            let grant = try database.revocableGrant("grants.id = ?", id.rawValue)
            guard let grant, grant.revoked.userID == user else { return .notFound }
            guard grant.revokedAt == nil else { return .alreadyRevoked }
            try database.revoke(grant, because: reason, at: time)
            return .revoked
        }
    }
}

extension AppSignIn {
    /// The grants of user ?1 that give access at ?2, with the idle lifetimes ?3 and ?4 in seconds.
    private static let live = """
        FROM \(Grant.withUser) JOIN clients ON clients.id = grants.client_id
            LEFT JOIN refresh_tokens ON refresh_tokens.grant_number = grants.number
        WHERE \(Grant.isOfFirst) AND grants.revoked_at IS NULL AND (
            grants.access_until > ?2
            OR refresh_tokens.expires_at > ?2 AND refresh_tokens.last_used_at > ?2 - 1000000
                * coalesce(clients.refresh_idle_lifetime, CASE WHEN clients.type = 'spa' THEN ?3 ELSE ?4 END)
        )
        """

    /// The time of the last use of the grant or of its refresh token.
    private static let lastUse =
        "max(grants.last_used_at, coalesce(refresh_tokens.last_used_at, grants.last_used_at))"

    /// The number of the grants.
    static let count = "SELECT count(*) \(live)"

    /// The query for the grants with their clients, most recently used first.
    static let recent = """
        SELECT \(lastUse), \(Grant.columns), \(RegisteredClient.columns) \(live)
        ORDER BY \(lastUse) DESC, grants.number DESC
        """
}

extension LeftoverAccess {
    /// The query for what the revoked grants of user ?1 have left behind at ?2: those to the client ?3, or to all if it
    /// is empty, and the grant ?4, or all if it is empty.
    ///
    /// A refresh within `Grant.useResolution` is recorded with the refresh token alone, so its time counts, too.
    static let ofUser = """
        SELECT grants.client_id, grants.scope, max(
                grants.access_until + max(coalesce(refresh_tokens.last_used_at - grants.last_used_at, 0), 0)
            ), max(grants.revoked_at), max(grants.has_refresh_tokens)
        FROM \(Grant.withUser) LEFT JOIN refresh_tokens ON refresh_tokens.grant_number = grants.number
        WHERE \(Grant.isOfFirst) AND grants.revoked_at IS NOT NULL
            AND grants.access_until > ?2 - \(Int64(RefreshFamily.useResolution * 1_000_000))
            AND (?3 = '' OR grants.client_id = ?3) AND (?4 = '' OR grants.id = ?4)
        GROUP BY grants.client_id, grants.scope
        ORDER BY grants.client_id, grants.scope
        """

    fileprivate init(_ columns: inout Columns) throws {
        columns.record = "grant"
        self.init(
            clientID: try columns.value(ClientIdentifier.init(_:)),
            scope: try columns.scope(),
            until: try columns.date(),
            endedAt: try columns.date(),
            hadRefreshTokens: try columns.flag()
        )
    }
}
