@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilStore
import Foundation
import Logging

/// The redemptions of codes in this process: those that are in progress, and those whose end the store does not know
/// yet.
///
/// A code is redeemed before its tokens are sent. If the answer of the store is lost, the client gets an error, and may
/// send the same request again. Only this process knows that the client got no tokens, so it tells the store: with each
/// heartbeat, and when a code is presented a second time. Until then, no process takes the second request for a replay.
struct RedemptionLedger: Sendable {
    /// The maximum number of ends that wait for the store; the oldest are dropped first.
    ///
    /// A second redemption of a code whose end was dropped is refused, and revokes nothing.
    static let capacity = 20_000
    /// The maximum number of ends in one commit.
    static let batchLimit = 500

    /// The redemptions that all copies of the ledger share.
    private final class SharedRedemptions: Sendable {
        let state = Mutex(State())
    }

    private struct State {
        /// The number of redemptions in progress, or commits of their ends, by code.
        var busy: [ArtefactDigest: Int] = [:]
        /// The requests that wait until a code is not busy.
        var waiting: [ArtefactDigest: [CheckedContinuation<Void, Never>]] = [:]
        var ended: [RedemptionSettlement] = []
    }

    var store: any GrantStore
    var auditor: Auditor
    var logger: Logger
    private let shared = SharedRedemptions()

    init(store: any GrantStore, auditor: Auditor, logger: Logger) {
        self.store = store
        self.auditor = auditor
        self.logger = logger
    }

    /// Runs the redemption of a code, and keeps its end.
    ///
    /// If its result stays unknown, the caller sends no tokens, so the redemption ends without an answer.
    func redeem(
        _ code: ArtefactDigest, attempt: CommitAttempt, for request: RequestContext,
        _ commit: () async throws(StoreFault) -> ConsumeCodeOutcome
    ) async throws(StoreFault) -> ConsumeCodeOutcome {
        let unsent = RedemptionSettlement(code: code, attempt: attempt, isAnswered: false)
        begin([code])
        do {
            let outcome = try await RepeatedCommit.send(for: request, commit)
            switch outcome {
            case .consumed:
                end([code], keeping: [RedemptionSettlement(code: code, attempt: attempt, isAnswered: true)])
            // An earlier commit of this attempt may have redeemed the code before it became invalid.
            case .gone: end([code], keeping: [unsent])
            case .alreadyUsed: end([code], keeping: [])
            }
            return outcome
        } catch {
            if case .unconfirmed = error { end([code], keeping: [unsent]) } else { end([code], keeping: []) }
            throw error
        }
    }

    /// Waits for the redemptions of a code in this process, and tells the store how they have ended.
    func decide(_ code: ArtefactDigest, now: Date) async throws(StoreFault) {
        while true {
            await waitWhileBusy(code)
            guard shared.state.withLock({ $0.ended.contains { $0.code == code } }) else { return }
            try await settle(now: now)
        }
    }

    /// Tells the store how redemptions have ended; after a fault, they are kept for the next call.
    func settle(now: Date) async throws(StoreFault) {
        // Redemptions that end meanwhile wait for the next call, so that this one ends under any load.
        var left = shared.state.withLock { $0.ended.count }
        while left > 0, let batch = takeBatch(atMost: min(left, Self.batchLimit)) {
            left -= batch.count
            let codes = batch.map(\.code)
            let revoked: [RevokedGrant]
            do {
                revoked = try await settle(batch, now: now)
            } catch {
                end(codes, keeping: batch)
                throw error
            }
            end(codes, keeping: [])
            auditor.countRecorded(revoked.map { Self.event(of: $0, now: now) })
        }
    }

    /// Tells the store how redemptions have ended; one whose records are damaged is dropped, so that it does not keep
    /// the others from being recorded.
    private func settle(
        _ batch: [RedemptionSettlement], now: Date
    ) async throws(StoreFault) -> [RevokedGrant] {
        do {
            return try await store.settleRedemptions(batch, at: now) { Self.event(of: $0, now: now) }
        } catch .damaged(let reason) {
            guard batch.count > 1 else {
                logger.error("failed to record whether a code got its tokens", metadata: ["error": "\(reason)"])
                return []
            }
            var revoked: [RevokedGrant] = []
            for settlement in batch { revoked += try await settle([settlement], now: now) }
            return revoked
        }
    }

    /// Returns the event of a revocation because of a second redemption.
    private static func event(of grant: RevokedGrant, now: Date) -> AuditEvent {
        AuditEvent(
            at: now, .revocation, userID: grant.userID, clientID: grant.clientID, grantID: grant.id,
            detail: RevocationReason.codeReplay.rawValue)
    }

    private func takeBatch(atMost limit: Int) -> [RedemptionSettlement]? {
        shared.state.withLock { state in
            guard !state.ended.isEmpty else { return nil }
            let batch = Array(state.ended.prefix(limit))
            state.ended.removeFirst(batch.count)
            for settlement in batch { state.busy[settlement.code, default: 0] += 1 }
            return batch
        }
    }

    private func begin(_ codes: [ArtefactDigest]) {
        shared.state.withLock { state in
            for code in codes { state.busy[code, default: 0] += 1 }
        }
    }

    private func end(_ codes: [ArtefactDigest], keeping settlements: [RedemptionSettlement]) {
        let free = shared.state.withLock { state in
            state.ended += settlements
            if state.ended.count > Self.capacity { state.ended.removeFirst(state.ended.count - Self.capacity) }
            var free: [CheckedContinuation<Void, Never>] = []
            for code in codes {
                let left = (state.busy[code] ?? 1) - 1
                state.busy[code] = left > 0 ? left : nil
                if left <= 0 { free += state.waiting.removeValue(forKey: code) ?? [] }
            }
            return free
        }
        for request in free { request.resume() }
    }

    private func waitWhileBusy(_ code: ArtefactDigest) async {
        await withCheckedContinuation { continuation in
            let isFree = shared.state.withLock { state in
                guard state.busy[code] != nil else { return true }
                state.waiting[code, default: []].append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
    }
}
