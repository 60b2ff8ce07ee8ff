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
}

extension RefreshTokenStore {
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
