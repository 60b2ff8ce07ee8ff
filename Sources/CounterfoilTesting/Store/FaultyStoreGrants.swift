public import CounterfoilProtocol
public import CounterfoilServer
public import Foundation

extension FaultyStore: ConsentStore {
    /// What a person has allowed an application.
    public func consent(
        of person: PersonIdentifier,
        to client: ClientIdentifier
    ) async throws(StoreFault) -> Consent? {
        try enter(.consent)
        return try await store.consent(of: person, to: client)
    }

    /// Everything that a person has allowed.
    public func consents(of person: PersonIdentifier) async throws(StoreFault) -> [ConsentFacts] {
        try enter(.consents)
        return try await store.consents(of: person)
    }

    /// Takes back what is not in `kept`.
    public func narrowConsent(
        of person: PersonIdentifier,
        to client: ClientIdentifier,
        keeping kept: Scope,
        at time: Date
    ) async throws(StoreFault) -> NarrowConsentOutcome {
        try enter(.narrowConsent)
        return try await store.narrowConsent(of: person, to: client, keeping: kept, at: time)
    }
}

extension FaultyStore: GrantStore {
    /// Records what a person allowed, with the code for it.
    public func recordConsent(_ approval: Approval) async throws(StoreFault) -> RecordConsentOutcome {
        try enter(.recordConsent)
        guard !isSwitchedOff(approval.grant.personID) else { return .personGone }
        return try await store.recordConsent(approval)
    }

    /// The code of a digest with its grant and person.
    public func code(_ digest: ArtefactDigest) async throws(StoreFault) -> CodeFacts? {
        try enter(.code)
        guard let facts = try await store.code(digest) else { return nil }
        return CodeFacts(code: facts.code, grant: facts.grant, person: seen(facts.person))
    }

    /// Redeems a code.
    public func consumeCode(_ digest: ArtefactDigest, at time: Date) async throws(StoreFault) -> ConsumeCodeOutcome {
        try enter(.consumeCode)
        if let facts = try await store.code(digest), isSwitchedOff(facts.person.id) { return .gone }
        return try await store.consumeCode(digest, at: time)
    }

    /// Counts a redemption with a wrong verifier.
    @discardableResult
    public func countFailedRedemption(_ digest: ArtefactDigest) async throws(StoreFault) -> Int {
        try enter(.countFailedRedemption)
        return try await store.countFailedRedemption(digest)
    }

    /// The grant of an identifier.
    public func grant(_ id: GrantIdentifier) async throws(StoreFault) -> Grant? {
        try enter(.grant)
        return try await store.grant(id)
    }

    /// Revokes a grant.
    @discardableResult
    public func revokeGrant(_ id: GrantIdentifier, at time: Date) async throws(StoreFault) -> RevokeGrantOutcome {
        try enter(.revokeGrant)
        return try await store.revokeGrant(id, at: time)
    }
}
