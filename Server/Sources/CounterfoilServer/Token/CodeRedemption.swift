import CounterfoilProtocol
import CounterfoilStore
import Foundation
import HTTPTypes

/// The redemption of codes, which the authorization code grant and the device code grant share.
extension GrantContext {
    /// Tells the store how the redemptions of a used code in this process have ended, before the code is judged.
    ///
    /// - Returns: True if the facts must be read again.
    func decideRedemption(of facts: CodeFacts?, _ exchange: TokenEndpointRequest) async throws(StoreFault) -> Bool {
        guard let code = facts?.code, code.attempt != nil else { return false }
        try await redemptions.decide(code.digest, now: exchange.now)
        return true
    }

    /// Redeems a code, and stores the token family that begins with it.
    func redeem(
        _ facts: CodeFacts, beginning family: RefreshFamily?, _ exchange: TokenEndpointRequest
    ) async throws(StoreFault) -> ConsumeCodeOutcome {
        let digest = facts.code.digest
        let attempt = CommitAttempt(random: issuer.random)
        let end = issuer.accessEnd(of: exchange.client.client, from: exchange.now)
        return try await redemptions.redeem(digest, attempt: attempt, for: exchange.request.context) {
            () async throws(StoreFault) in
            try await store.consumeCode(
                digest, beginning: family, givingAccessUntil: end, attempt: attempt, at: exchange.now)
        }
    }

    /// Judges a second redemption of a code, and returns the error for its sender.
    ///
    /// RFC 6749 §4.1.2: if the tokens of the first redemption were sent, one of the two senders may have stolen the
    /// code, and the grant is revoked. If no process has recorded that they were sent, the sender may be the client
    /// itself, which got an error. It gets no tokens before a process has recorded that the first redemption got none.
    ///
    /// - Parameter refusal: The error for a code that was redeemed before.
    func refusalOfReplay(
        of facts: CodeFacts, _ refusal: OAuthError, _ exchange: TokenEndpointRequest
    ) async throws -> any Error {
        let (digest, grant, now) = (facts.code.digest, facts.grant, exchange.now)
        try exchange.demandTimeLeft()
        try await redemptions.decide(digest, now: now)
        let contested = try await RepeatedCommit.send(for: exchange.request.context) { () async throws(StoreFault) in
            try await store.contestRedemption(digest, at: now)
        }
        switch contested {
        case .answered:
            let event = self.refusal(.codeRedemption, because: .codeReplay, grant, exchange)
            try await revoke(grant, because: .codeReplay, recording: event, exchange)
            return refusal
        case .undecided:
            let event = self.refusal(
                .codeRedemption, because: .codeReplay, grant, exchange,
                detail: "the result of the first redemption is unknown")
            await auditor.note(event, by: exchange.request)
            // A request that raced with the first redemption has read the code as unused.
            let usedAt = facts.code.usedAt ?? now
            return now < usedAt + CodeRecord.undecidedPeriod ? RedemptionUndecided() : refusal
        case .notRedeemed:
            return RedemptionUndecided()
        }
    }
}

/// The error for a second redemption of a code while no process has recorded whether the first one got tokens.
struct RedemptionUndecided: Refusing {
    var refusal: Refusal {
        Refusal(
            .serviceUnavailable, .temporarilyUnavailable, .unavailable,
            description: "the result of an earlier request with this code is not known yet; send the request again",
            retryAfter: 5)
    }
}
