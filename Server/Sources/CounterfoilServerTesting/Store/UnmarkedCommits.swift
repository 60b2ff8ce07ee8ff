import CounterfoilServer
package import CounterfoilStore
package import Foundation

/// Commits with an attempt of their own, for tests in which no commit is sent again.
extension GrantStore {
    /// Redeems a code, and records that its tokens were sent.
    package func consumeCode(
        _ digest: ArtefactDigest, beginning family: RefreshFamily?, at time: Date
    ) async throws(StoreFault) -> ConsumeCodeOutcome {
        let attempt = CommitAttempt()
        let outcome = try await consumeCode(digest, beginning: family, attempt: attempt, at: time)
        guard outcome == .consumed else { return outcome }
        try await settleRedemptions([RedemptionSettlement(code: digest, attempt: attempt, isAnswered: true)], at: time)
        return outcome
    }

    /// Redeems a code without an access token that outlives the redemption.
    package func consumeCode(
        _ digest: ArtefactDigest, beginning family: RefreshFamily?, attempt: CommitAttempt, at time: Date
    ) async throws(StoreFault) -> ConsumeCodeOutcome {
        try await consumeCode(digest, beginning: family, givingAccessUntil: time, attempt: attempt, at: time)
    }
}

extension RefreshTokenStore {
    /// Records a refresh without an access token that outlives it.
    package func recordRefresh(
        _ facts: RefreshFacts, _ step: RefreshStep, attempt: CommitAttempt, now: Date, recording events: [AuditEvent]
    ) async throws(StoreFault) -> RecordRefreshOutcome {
        try await recordRefresh(
            facts, step, givingAccessUntil: now, attempt: attempt, now: now, recording: events)
    }

    package func recordRefresh(
        _ facts: RefreshFacts, _ step: RefreshStep, now: Date
    ) async throws(StoreFault) -> RecordRefreshOutcome {
        try await recordRefresh(facts, step, attempt: CommitAttempt(), now: now)
    }
}

extension ClientAssertionStore {
    package func noteAssertion(
        _ digest: ArtefactDigest, expires: Date, now: Date
    ) async throws(StoreFault) -> Bool {
        try await noteAssertion(digest, expires: expires, attempt: CommitAttempt(), now: now)
    }
}
