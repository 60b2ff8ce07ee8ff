// The store protocols document these methods.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CounterfoilProtocol
public import CounterfoilServer
public import Foundation

extension MemoryStore: ConsentStore {
    public func consent(
        of person: PersonIdentifier,
        to client: ClientIdentifier
    ) async throws(StoreFault) -> Consent? {
        state.withLock { state in state.consents[ConsentKey(person: person, client: client)] }
    }

    public func consents(of person: PersonIdentifier) async throws(StoreFault) -> [ConsentFacts] {
        state.withLock { state in
            let facts: [ConsentFacts] = state.consents.values.compactMap { consent in
                guard consent.personID == person,
                    let client = state.clients.first(where: { $0.id == consent.clientID })
                else { return nil }
                return ConsentFacts(consent: consent, client: client)
            }
            return facts.sorted { left, right in
                left.consent.allowedAt != right.consent.allowedAt
                    ? left.consent.allowedAt > right.consent.allowedAt
                    : left.client.id.rawValue < right.client.id.rawValue
            }
        }
    }

    public func narrowConsent(
        of person: PersonIdentifier,
        to client: ClientIdentifier,
        keeping kept: Scope,
        at time: Date,
        recording events: [AuditEvent]
    ) async throws(StoreFault) -> NarrowConsentOutcome {
        commit(recording: events) { state in
            let key = ConsentKey(person: person, client: client)
            guard state.consents[key] != nil else { return .notFound }
            for grant in state.liveGrants(of: key) {
                let left = grant.scope.intersection(kept)
                guard kept.isEmpty || !grant.allowed.isSubset(of: kept) else { continue }
                state.killCodes { $0.grantID == grant.id }
                if left.isEmpty {
                    state.revoke(grant, because: .person, at: time)
                } else {
                    state.grants[grant.id]?.scope = left
                    state.grants[grant.id]?.claimScope = grant.claimScope.intersection(kept)
                }
            }
            state.followConsent(key)
            return .narrowed
        }
    }
}

extension MemoryStore.State {
    /// Reduces a consent to the scopes and APIs of its grants that are not revoked.
    ///
    /// The consent is deleted if no such grant remains. Call this method after grants were revoked or narrowed.
    mutating func followConsent(_ key: MemoryStore.ConsentKey) {
        consents[key] = consents[key]?.following(liveGrants(of: key).map { ($0.allowed, $0.resources) })
    }

    /// Invalidates the selected codes, except those whose redemption is known to have got tokens.
    mutating func killCodes(where isMeant: (CodeRecord) -> Bool) {
        for code in codes.values where (code.usedAt == nil || code.attempt != nil) && isMeant(code) {
            codes[code.digest]?.failedRedemptions = CodeRecord.failedRedemptionLimit
        }
    }

    fileprivate func liveGrants(of key: MemoryStore.ConsentKey) -> [Grant] {
        grants.values.filter { $0.personID == key.person && $0.clientID == key.client && $0.revokedAt == nil }
    }
}
