// The store protocols document these methods.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import CounterfoilProtocol
public import CounterfoilServer
public import Foundation

extension MemoryStore {
    public func contestRedemption(
        _ digest: ArtefactDigest, at time: Date
    ) async throws(StoreFault) -> ContestRedemptionOutcome {
        state.withLock { state in
            guard let code = state.codes[digest], code.usedAt != nil else { return .notRedeemed }
            guard code.attempt != nil else { return .answered }
            state.contestedCodes.insert(digest)
            return .undecided
        }
    }

    @discardableResult
    public func settleRedemptions(
        _ settlements: [RedemptionSettlement], at time: Date,
        recording event: @escaping @Sendable (RevokedGrant) -> AuditEvent
    ) async throws(StoreFault) -> [RevokedGrant] {
        state.withLock { state in
            let revoked: [RevokedGrant] = settlements.compactMap { settlement in
                guard let code = state.codes[settlement.code], code.attempt == settlement.attempt else { return nil }
                state.codes[code.digest]?.attempt = nil
                let isContested = state.contestedCodes.remove(code.digest) != nil
                guard settlement.isAnswered else {
                    state.codes[code.digest]?.usedAt = nil
                    for family in state.refreshFamilies.values where family.grantID == code.grantID {
                        state.refreshFamilies[family.digest] = nil
                    }
                    return nil
                }
                guard isContested, let grant = state.grants[code.grantID], grant.revokedAt == nil else { return nil }
                state.revoke(grant, because: .codeReplay, at: time)
                state.followConsent(ConsentKey(person: grant.personID, client: grant.clientID))
                return RevokedGrant(id: grant.id, personID: grant.personID, clientID: grant.clientID)
            }
            state.append(revoked.map(event))
            return revoked
        }
    }
}
