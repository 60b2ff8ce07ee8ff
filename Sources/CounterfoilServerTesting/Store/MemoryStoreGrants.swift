// The store protocols document these methods.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import CounterfoilProtocol
public import CounterfoilServer
public import Foundation

extension MemoryStore: GrantStore {
    public func recordConsent(_ approval: Approval) async throws(StoreFault) -> RecordConsentOutcome {
        state.withLock { state in
            let (grant, code) = (approval.grant, approval.code)
            guard !state.isBeingRemoved(grant.clientID) else { return .clientDeleted }
            if let answered = state.interactions[code.interaction] {
                return answered == grant.id ? .recorded : .alreadyAnswered
            }
            let stored = state.clients.first { $0.id == grant.clientID }
            guard let client = stored ?? approval.newClient else { return .clientDeleted }
            guard state.hasPushedRequest(of: approval) else { return .pushedRequestGone }
            guard client.revision == approval.clientRevision else { return .clientChanged }
            if let stored, approval.newClient != nil {
                guard approval.appearance == ClientAppearance(of: stored) else { return .clientChanged }
            }
            guard state.isActive(grant.personID) else { return .personNotActive }
            guard state.holdsSession(of: approval) else { return .sessionEnded }
            let key = ConsentKey(person: grant.personID, client: grant.clientID)
            guard approval.holds(beside: state.consents[key]) else { return .consentWithdrawn }
            if code.isDeviceCode {
                guard state.isPending(code, of: grant) else { return .deviceNotPending }
                state.devices[code.digest] = nil
            }
            if stored == nil {
                state.clients.append(client)
                if let event = approval.newClientEvent { state.append(event) }
            }
            state.grants[grant.id] = grant
            state.codes[code.digest] = code
            state.interactions[code.interaction] = grant.id
            if let pushed = approval.pushedRequest { state.pushedRequests[pushed] = nil }
            state.consents[key] = approval.consent(after: state.consents[key])
            if approval.pkce.isException {
                let former = state.pkceExceptions[client.id]
                state.pkceExceptions[client.id] = PKCEExceptionUse(
                    count: (former?.count ?? 0) + 1,
                    lastAt: max(former?.lastAt ?? grant.createdAt, grant.createdAt)
                )
            }
            state.append(approval.events)
            return .recorded
        }
    }

    public func code(_ digest: ArtefactDigest) async throws(StoreFault) -> CodeFacts? {
        state.withLock { state in
            guard let code = state.codes[digest], let grant = state.grants[code.grantID],
                let person = state.people[grant.personID]
            else { return nil }
            return CodeFacts(code: code, grant: grant, person: person)
        }
    }

    public func consumeCode(
        _ digest: ArtefactDigest,
        beginning family: RefreshFamily?,
        attempt: CommitAttempt,
        at time: Date
    ) async throws(StoreFault) -> ConsumeCodeOutcome {
        state.withLock { state in
            guard let code = state.codes[digest] else { return .gone }
            guard code.usedAt == nil else {
                guard code.attempt == attempt else { return .alreadyUsed }
                let grant = state.grants[code.grantID]
                return grant.map { $0.revokedAt == nil && state.isActive($0.personID) } ?? false ? .consumed : .gone
            }
            guard code.failedRedemptions < CodeRecord.failedRedemptionLimit,
                let grant = state.grants[code.grantID], grant.revokedAt == nil, state.isActive(grant.personID),
                !code.isDeviceCode || state.isSessionStored(of: grant, at: time)
            else { return .gone }
            state.codes[digest]?.usedAt = time
            state.codes[digest]?.attempt = attempt
            state.noteUse(of: grant, at: time)
            if let family { state.refreshFamilies[family.digest] = family }
            return .consumed
        }
    }

    @discardableResult
    public func countFailedRedemption(_ digest: ArtefactDigest) async throws(StoreFault) -> Int {
        state.withLock { state in
            guard let code = state.codes[digest] else { return 0 }
            guard code.usedAt == nil else { return code.failedRedemptions }
            let count = min(code.failedRedemptions + 1, CodeRecord.failedRedemptionLimit)
            state.codes[digest]?.failedRedemptions = count
            return count
        }
    }

    public func grant(_ id: GrantIdentifier) async throws(StoreFault) -> Grant? {
        state.withLock { state in state.grants[id] }
    }

    public func grantFacts(_ id: GrantIdentifier) async throws(StoreFault) -> GrantFacts? {
        state.withLock { state in
            guard let grant = state.grants[id], let person = state.people[grant.personID] else { return nil }
            return GrantFacts(grant: grant, person: person)
        }
    }

    @discardableResult
    public func revokeGrant(
        _ id: GrantIdentifier,
        because reason: RevocationReason,
        at time: Date,
        recording events: [AuditEvent]
    ) async throws(StoreFault) -> RevokeGrantOutcome {
        commit(recording: events) { state in
            guard let grant = state.grants[id] else { return .notFound }
            guard grant.revokedAt == nil else { return .alreadyRevoked }
            state.revoke(grant, because: reason, at: time)
            state.followConsent(ConsentKey(person: grant.personID, client: grant.clientID))
            return .revoked
        }
    }
}

extension MemoryStore.State {
    /// Returns true if the session of an approval has neither ended nor expired, and the password has not changed
    /// since the session was read.
    fileprivate func holdsSession(of approval: Approval) -> Bool {
        let grant = approval.grant
        return people[grant.personID]?.passwordHash == approval.passwordHash
            && sessions.values.contains {
                $0.id == grant.sessionID && $0.personID == grant.personID && $0.expiresAt > grant.createdAt
            }
    }
}
