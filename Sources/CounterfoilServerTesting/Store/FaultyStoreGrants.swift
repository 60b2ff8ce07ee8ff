// The store protocols document these methods.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CounterfoilProtocol
public import CounterfoilServer
public import Foundation

extension FaultyStore: ConsentStore {
    public func consent(
        of person: PersonIdentifier,
        to client: ClientIdentifier
    ) async throws(StoreFault) -> Consent? {
        try await enter(.consent)
        return try await store.consent(of: person, to: client)
    }

    public func consents(of person: PersonIdentifier) async throws(StoreFault) -> [ConsentFacts] {
        try await enter(.consents)
        return try await store.consents(of: person)
    }

    public func consents(
        of person: PersonIdentifier, after last: ClientIdentifier?, limit: Int
    ) async throws(StoreFault) -> [ConsentFacts] {
        try await enter(.consents)
        return try await store.consents(of: person, after: last, limit: limit)
    }

    public func narrowConsent(
        of person: PersonIdentifier,
        to client: ClientIdentifier,
        keeping kept: Scope,
        at time: Date,
        recording events: [AuditEvent]
    ) async throws(StoreFault) -> NarrowConsentOutcome {
        try await enter(.narrowConsent)
        return try await store.narrowConsent(of: person, to: client, keeping: kept, at: time, recording: events)
    }
}

extension FaultyStore: GrantStore {
    public func recordConsent(_ approval: Approval) async throws(StoreFault) -> RecordConsentOutcome {
        try await commit(.recordConsent) { () async throws(StoreFault) in
            guard !isSwitchedOff(approval.grant.personID) else { return .personNotActive }
            return try await store.recordConsent(approval)
        }
    }

    public func code(_ digest: ArtefactDigest) async throws(StoreFault) -> CodeFacts? {
        try await enter(.code)
        guard let facts = try await store.code(digest) else { return nil }
        return CodeFacts(code: facts.code, grant: facts.grant, person: seen(facts.person))
    }

    public func consumeCode(
        _ digest: ArtefactDigest,
        beginning family: RefreshFamily?,
        attempt: CommitAttempt,
        at time: Date
    ) async throws(StoreFault) -> ConsumeCodeOutcome {
        try await commit(.consumeCode) { () async throws(StoreFault) in
            if let facts = try await store.code(digest), isSwitchedOff(facts.person.id) { return .gone }
            return try await store.consumeCode(digest, beginning: family, attempt: attempt, at: time)
        }
    }

    public func contestRedemption(
        _ digest: ArtefactDigest, at time: Date
    ) async throws(StoreFault) -> ContestRedemptionOutcome {
        try await enter(.contestRedemption)
        return try await store.contestRedemption(digest, at: time)
    }

    @discardableResult
    public func settleRedemptions(
        _ settlements: [RedemptionSettlement], at time: Date,
        recording event: @escaping @Sendable (RevokedGrant) -> AuditEvent
    ) async throws(StoreFault) -> [RevokedGrant] {
        try await enter(.settleRedemptions)
        return try await store.settleRedemptions(settlements, at: time, recording: event)
    }

    @discardableResult
    public func countFailedRedemption(_ digest: ArtefactDigest) async throws(StoreFault) -> Int {
        try await enter(.countFailedRedemption)
        return try await store.countFailedRedemption(digest)
    }

    public func grant(_ id: GrantIdentifier) async throws(StoreFault) -> Grant? {
        try await enter(.grant)
        return try await store.grant(id)
    }

    public func grants(
        of person: PersonIdentifier, after last: Grant?, limit: Int
    ) async throws(StoreFault) -> [GrantWithTokens] {
        try await enter(.grants)
        return try await store.grants(of: person, after: last, limit: limit)
    }

    public func grantFacts(_ id: GrantIdentifier) async throws(StoreFault) -> GrantFacts? {
        try await enter(.grantFacts)
        guard let facts = try await store.grantFacts(id) else { return nil }
        return GrantFacts(grant: facts.grant, person: seen(facts.person))
    }

    @discardableResult
    public func revokeGrant(
        _ id: GrantIdentifier,
        because reason: RevocationReason,
        at time: Date,
        recording events: [AuditEvent]
    ) async throws(StoreFault) -> RevokeGrantOutcome {
        try await enter(.revokeGrant)
        return try await store.revokeGrant(id, because: reason, at: time, recording: events)
    }
}
