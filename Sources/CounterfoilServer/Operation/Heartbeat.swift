import Foundation
import Logging

/// Records every two seconds that the store answers, so that its outages are known.
///
/// Every server on a store does so. One that starts beside another one therefore finds no outage, and the only one finds the time
/// during which it was stopped.
public struct Heartbeat: Sendable {
    /// How long it waits between two records.
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

    /// Records until its task is cancelled; a store that does not answer is tried again.
    public func run() async {
        var isAnswering = true
        while !Task.isCancelled {
            do {
                try await beat()
                if !isAnswering { logger.notice("the store answers again") }
                isAnswering = true
            } catch {
                // The requests that fail meanwhile are logged each; the outage itself, once.
                if isAnswering {
                    metrics.count(.storeError)
                    logger.error("failed to record that the store answers", metadata: ["error": "\(error)"])
                }
                isAnswering = false
            }
            do { try await Task.sleep(for: Self.interval) } catch { return }
        }
    }

    /// Records once.
    package func beat() async throws(StoreFault) {
        try await store.recordService(at: clock(), outageAfter: ServiceRecord.silenceLimit)
    }
}
