// The store protocols document these methods.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CounterfoilProtocol
public import CounterfoilServer
public import Foundation

extension MemoryStore: RefreshTokenStore {
    public func refreshFacts(_ digest: ArtefactDigest) async throws(StoreFault) -> RefreshFacts? {
        state.withLock { state in
            guard let family = state.refreshFamilies[digest], let grant = state.grants[family.grantID],
                let person = state.people[grant.personID],
                state.clients.contains(where: { $0.id == grant.clientID })
            else { return nil }
            return RefreshFacts(family: family, grant: grant, person: person)
        }
    }

    public func recordRefresh(
        _ facts: RefreshFacts, _ step: RefreshStep, attempt: CommitAttempt, now: Date,
        recording events: [AuditEvent]
    ) async throws(StoreFault) -> RecordRefreshOutcome {
        state.withLock { state in
            guard var family = state.refreshFamilies[facts.family.digest], let grant = state.grants[family.grantID],
                grant.revokedAt == nil, state.isActive(grant.personID)
            else { return .gone }
            guard state.refreshAttempts[family.digest] != attempt else { return .recorded }
            guard family.generation == facts.family.generation, grant.scope == facts.grant.scope,
                grant.claimScope == facts.grant.claimScope
            else { return .changedMeanwhile }
            switch step {
            case .advance(let next):
                family.generation = next
                family.rotatedAt = now
                family.repeats = 0
            case .bind(let key, let next):
                guard family.keyThumbprint == nil else { return .changedMeanwhile }
                family.keyThumbprint = key
                family.generation = next
                family.rotatedAt = now
                family.repeats = 0
            case .repeat:
                guard family.repeatWait(at: now) <= 0 else { return .changedMeanwhile }
                family.repeats += 1
                state.refreshStatistics[grant.clientID, default: RefreshStatistics()].repeats += 1
            case .stay: break
            }
            family.lastUsedAt = max(family.lastUsedAt, now)
            state.refreshFamilies[family.digest] = family
            state.refreshAttempts[family.digest] = attempt
            state.noteUse(of: grant, at: now, to: Grant.useResolution)
            state.append(events)
            return .recorded
        }
    }

    public func refreshStatistics(of client: ClientIdentifier) async throws(StoreFault) -> RefreshStatistics {
        state.withLock { $0.refreshStatistics[client] ?? RefreshStatistics() }
    }

    public func refreshStatistics() async throws(StoreFault) -> RefreshStatistics {
        state.withLock { state in
            state.refreshStatistics.values.reduce(into: RefreshStatistics()) { sum, one in
                sum.repeats += one.repeats
                sum.reuses += one.reuses
                sum.revocations += one.revocations
                sum.lastReuseAt = [sum.lastReuseAt, one.lastReuseAt].compactMap(\.self).max()
            }
        }
    }
}

extension MemoryStore.State {
    /// Records that a grant and its consent were used to issue a token.
    ///
    /// If the recorded use of the grant is less than `resolution` seconds old, nothing changes.
    mutating func noteUse(of grant: Grant, at time: Date, to resolution: TimeInterval = 0) {
        // The times of use of a grant and its consent are always recorded together, so a check of the grant is enough.
        guard resolution == 0 || time.timeIntervalSince(grant.lastUsedAt) >= resolution else { return }
        grants[grant.id]?.lastUsedAt = max(grant.lastUsedAt, time)
        let key = MemoryStore.ConsentKey(person: grant.personID, client: grant.clientID)
        let former = consents[key]?.lastUsedAt ?? time
        consents[key]?.lastUsedAt = max(former, time)
    }

    /// Revokes a grant that is not revoked yet, and counts the revocation in the statistics of its client.
    mutating func revoke(_ grant: Grant, because reason: RevocationReason, at time: Date) {
        grants[grant.id]?.revokedAt = time
        var statistics = refreshStatistics[grant.clientID] ?? RefreshStatistics()
        statistics.revocations += 1
        if reason == .refreshReuse {
            statistics.reuses += 1
            statistics.lastReuseAt = max(statistics.lastReuseAt ?? time, time)
        }
        refreshStatistics[grant.clientID] = statistics
    }
}
