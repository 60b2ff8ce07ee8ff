public import CounterfoilStore
public import Foundation

extension SQLStore {
    /// Records that a redeemed code was presented a second time, unless its redemption is known to be answered.
    public func contestRedemption(
        _ digest: ArtefactDigest, at time: Date
    ) async throws(StoreFault) -> ContestRedemptionOutcome {
        try await commit { database in
            let key = Data(digest.bytes)
            let contested = try database.run(
                """
                UPDATE codes SET contested_at = coalesce(contested_at, ?2)
                WHERE digest = ?1 AND used_at IS NOT NULL AND attempt IS NOT NULL
                """, key, time.microseconds)
            if contested == 1 { return .undecided }
            let isUsed = try database.answers("SELECT used_at IS NOT NULL FROM codes WHERE digest = ?", key)
            return isUsed == [true] ? .answered : .notRedeemed
        }
    }

    /// Records for redemptions whether their tokens were sent, and returns the grants that were revoked.
    ///
    /// A code whose redemption got no tokens becomes unused again. The grant of a contested redemption that got tokens
    /// is revoked.
    @discardableResult
    public func settleRedemptions(
        _ settlements: [RedemptionSettlement], at time: Date,
        recording event: @escaping @Sendable (RevokedGrant) -> AuditEvent
    ) async throws(StoreFault) -> [RevokedGrant] {
        guard !settlements.isEmpty else { return [] }
        return try await commit(ending: .sometimes(.grant, .consent)) { database in
            let revoked = try settlements.compactMap { settlement in
                settlement.isAnswered
                    ? try database.confirm(settlement, at: time) : try database.withdraw(settlement)
            }
            try database.append(revoked.map(event))
            return revoked
        }
    }
}

extension SQLConnection {
    /// Records that the tokens of a redemption were sent; returns its grant if this has revoked it.
    fileprivate func confirm(_ settlement: RedemptionSettlement, at time: Date) throws -> RevokedGrant? {
        let key = Data(settlement.code.bytes)
        let contested = try answers(
            "SELECT contested_at IS NOT NULL FROM codes WHERE digest = ?1 AND attempt = ?2", key,
            Data(settlement.attempt.bytes))
        guard let isContested = contested.first else { return nil }
        try send("UPDATE codes SET attempt = NULL, contested_at = NULL WHERE digest = ?", key)
        guard isContested,
            let grant = try revocableGrant("grants.id = (SELECT grant_id FROM codes WHERE digest = ?)", key),
            grant.revokedAt == nil
        else { return nil }
        try revoke(grant, because: .codeReplay, at: time)
        return grant.revoked
    }

    /// Marks a code as unused again, because the tokens of its redemption were not sent.
    fileprivate func withdraw(_ settlement: RedemptionSettlement) throws -> RevokedGrant? {
        let key = Data(settlement.code.bytes)
        let withdrawn = try run(
            """
            UPDATE codes SET used_at = NULL, attempt = NULL, contested_at = NULL WHERE digest = ?1 AND attempt = ?2
            """, key, Data(settlement.attempt.bytes))
        guard withdrawn == 1 else { return nil }
        let grant = "(SELECT grants.number FROM grants JOIN codes ON codes.grant_id = grants.id WHERE digest = ?)"
        try send("DELETE FROM refresh_tokens WHERE grant_number = \(grant)", key)
        try send("UPDATE grants SET has_refresh_tokens = 0 WHERE number = \(grant)", key)
        return nil
    }
}
