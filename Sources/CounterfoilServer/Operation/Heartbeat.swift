import Foundation
import Logging

/// A service that records every two seconds that the store answers, so that outages can be detected.
///
/// It also records which redeemed codes got their tokens, so that a replay at another process can be recognized.
///
/// Each server process that uses the store runs this service. A process that starts while another one is running finds
/// a recent heartbeat, and records no outage. If no other process is running, the starting process records an outage
/// that began when the last process stopped.
public struct Heartbeat: Sendable {
    /// The time between two heartbeats, which is shorter than half of `ServiceRecord.silenceLimit`.
    static let interval = Duration.seconds(2)

    private let store: any ServiceRecordStore
    private let redemptions: RedemptionLedger
    private let metrics: ServerMetrics
    private let logger: Logger
    private let clock: @Sendable () -> Date

    init(
        store: any ServiceRecordStore, redemptions: RedemptionLedger, metrics: ServerMetrics, logger: Logger,
        clock: @escaping @Sendable () -> Date
    ) {
        self.store = store
        self.redemptions = redemptions
        self.metrics = metrics
        self.logger = logger
        self.clock = clock
    }

    /// Writes heartbeats until its task is cancelled; after a failure, the service tries again at the next interval.
    public func run() async {
        var isAnswering = true
        while !Task.isCancelled {
            do {
                try await beat()
                if !isAnswering { logger.notice("the store answers again") }
                isAnswering = true
            } catch {
                // The server logs each request that fails during an outage. The outage itself is logged once.
                if isAnswering {
                    metrics.count(.storeError)
                    logger.error("failed to write the heartbeat to the store", metadata: ["error": "\(error)"])
                }
                isAnswering = false
            }
            do {
                try await Task.sleep(for: Self.interval)
            } catch {
                break
            }
        }
        // The next process must know which redemptions got tokens. Without this, it revokes nothing after a replay.
        try? await redemptions.settle(now: clock())
    }

    /// Writes one heartbeat; if the previous one is too old, the store also records an outage.
    ///
    /// Then the store is told how the redemptions of this process have ended.
    package func beat() async throws(StoreFault) {
        try await store.recordService(at: clock(), outageAfter: ServiceRecord.silenceLimit)
        try await redemptions.settle(now: clock())
    }
}
