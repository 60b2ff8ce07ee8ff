import Foundation
import Logging

/// A service that records every two seconds that the store answers, so that outages can be detected.
///
/// Every server process of a store runs it. A process that starts beside a running one therefore finds no
/// outage. A process that starts alone finds the outage since the last one stopped.
public struct Heartbeat: Sendable {
    /// The time between two records.
    static let interval = Duration.seconds(2)

    private let store: any ServiceRecordStore
    private let metrics: ServerMetrics
    private let logger: Logger
    private let clock: @Sendable () -> Date

    init(
        store: any ServiceRecordStore, metrics: ServerMetrics, logger: Logger, clock: @escaping @Sendable () -> Date
    ) {
        self.store = store
        self.metrics = metrics
        self.logger = logger
        self.clock = clock
    }

    /// Records until its task is cancelled; after a failure it continues with the next record.
    public func run() async {
        var isAnswering = true
        while !Task.isCancelled {
            do {
                try await beat()
                if !isAnswering { logger.notice("the store answers again") }
                isAnswering = true
            } catch {
                // Each request that fails meanwhile is logged; the outage itself is logged once.
                if isAnswering {
                    metrics.count(.storeError)
                    logger.error("failed to write the heartbeat to the store", metadata: ["error": "\(error)"])
                }
                isAnswering = false
            }
            do {
                try await Task.sleep(for: Self.interval)
            } catch {
                return
            }
        }
    }

    /// Records once.
    package func beat() async throws(StoreFault) {
        try await store.recordService(at: clock(), outageAfter: ServiceRecord.silenceLimit)
    }
}
