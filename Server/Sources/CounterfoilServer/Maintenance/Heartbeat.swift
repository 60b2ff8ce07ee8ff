package import CounterfoilStore
import Foundation
import Logging

/// A service that records every two seconds that the store answers, so that outages can be detected.
///
/// It also records which redeemed codes got their tokens, so that a replay at another process can be recognized, and
/// once a minute the numbers of sign-ins for charts. While the store refuses heartbeats, the process is not ready
/// (`ReadinessReport`).
///
/// Each server process that uses the store runs this service. A process that starts while another one is running finds
/// a recent heartbeat, and records no outage. If no other process is running, the starting process records an outage
/// that began when the last process stopped.
public struct Heartbeat: Sendable {
    /// The time between two heartbeats, which is shorter than half of `ServiceRecord.silenceLimit`.
    static let interval = Duration.seconds(2)

    private let store: any ServiceRecordStore
    private let redemptions: RedemptionLedger
    private let activity: ActivityLedger
    private let condition: StoreCondition
    private let metrics: ServerMetrics
    private let logger: Logger
    private let clock: @Sendable () -> Date

    init(
        store: any ServiceRecordStore, redemptions: RedemptionLedger, activity: ActivityLedger,
        condition: StoreCondition, metrics: ServerMetrics,
        logger: Logger, clock: @escaping @Sendable () -> Date
    ) {
        self.store = store
        self.redemptions = redemptions
        self.activity = activity
        self.condition = condition
        self.metrics = metrics
        self.logger = logger
        self.clock = clock
    }

    /// Writes heartbeats until its task is cancelled; after a failure, the service tries again at the next interval.
    public func run() async {
        var isAnswering = true
        var isSettling = true
        var isCounting = true
        await withDiscardingTaskGroup { checks in
            while !Task.isCancelled {
                isAnswering = await succeeds(in: "write the heartbeat to the store", before: isAnswering) {
                    try await writeHeartbeat()
                }
                if isAnswering, condition.beginSpaceCheck(at: .now) { checks.addTask { await reportSpace() } }
                isSettling = await settles(before: isSettling)
                isCounting = await counts(atOnce: false, before: isCounting)
                await condition.pause()
            }
        }
        await finish()
    }

    /// Records how the redemptions of this process have ended, and what it has counted.
    ///
    /// Call it after the last request, before the store closes. The next process must know which codes got their
    /// tokens. Without the record, a replay of such a code revokes nothing.
    public func finish() async {
        _ = await settles(before: true)
        _ = await counts(atOnce: true, before: true)
    }

    /// Writes one heartbeat, checks the space if that is due, and records how the redemptions have ended and what was
    /// counted.
    package func beat() async throws(StoreFault) {
        try await writeHeartbeat()
        if condition.beginSpaceCheck(at: .now) { try await checkSpace() }
        try await redemptions.settle(now: clock())
        try await activity.settle(at: clock(), atOnce: true)
    }

    /// Writes one heartbeat; if the previous one is too old, the store also records an outage.
    private func writeHeartbeat() async throws(StoreFault) {
        condition.beginHeartbeat(at: .now)
        do {
            try await store.recordService(at: clock(), outageAfter: ServiceRecord.silenceLimit)
        } catch {
            condition.endHeartbeat(isWritten: false, at: .now)
            throw error
        }
        condition.endHeartbeat(isWritten: true, at: .now)
    }

    /// Finds out whether the store has space.
    ///
    /// A store without space still gets heartbeats, also while the check hangs. Otherwise its outage would not end, and
    /// with it no grace period: a thief with a replaced refresh token would get new tokens as long as the disk is full.
    private func checkSpace() async throws(StoreFault) {
        do {
            try await store.takeUpSpace()
        } catch {
            condition.endSpaceCheck(hasSpace: false)
            throw error
        }
        condition.endSpaceCheck(hasSpace: true)
    }

    private func reportSpace() async {
        _ = await succeeds(in: "find space in the store", before: condition.hadSpace) { try await checkSpace() }
    }

    private func settles(before: Bool) async -> Bool {
        await succeeds(in: "record which codes got their tokens", before: before) {
            try await redemptions.settle(now: clock())
        }
    }

    private func counts(atOnce: Bool, before: Bool) async -> Bool {
        await succeeds(in: "record the numbers of sign-ins", before: before) {
            try await activity.settle(at: clock(), atOnce: atOnce)
        }
    }

    /// Runs one job, and returns whether it succeeded; logs when that differs from the time before.
    ///
    /// The server logs each request that fails during an outage. The outage itself is logged once.
    private func succeeds(in job: String, before: Bool, _ run: () async throws -> Void) async -> Bool {
        do {
            try await run()
            if !before { logger.notice("succeeded again to \(job)") }
            return true
        } catch {
            if before {
                metrics.count(.storeError)
                logger.error("failed to \(job)", metadata: ["error": "\(error)"])
            }
            return false
        }
    }
}
