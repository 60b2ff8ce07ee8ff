import CounterfoilStore

/// The check whether this process can serve sign-ins, for `/readyz` and the metrics.
struct Readiness: Sendable {
    let registry: CachedRegistry
    let lifetime: ServerLifetime
    let condition: StoreCondition

    /// The time for which the check waits for the store, which is shorter than the patience of most load balancers.
    private static let patience = Duration.milliseconds(500)

    /// The state of the process and of its store.
    func report() async -> ReadinessReport { ReadinessReport(process, store: await storeState()) }

    /// The state of the process.
    var process: ReadinessReport.ProcessState { lifetime.isStopping ? .stopping : .ready }

    private func storeState() async -> ReadinessReport.StoreState {
        let read = condition.read { [registry] () async throws(StoreFault) in
            try await registry.checkStore(by: .now + RequestContext.timeLimit)
        }
        let patience = Task { _ = try? await Task.sleep(for: Self.patience) }
        Task {
            await read.value
            patience.cancel()
        }
        await patience.value
        let now = ContinuousClock.now
        switch condition.fault(at: now) {
        case .damaged: return .damaged
        case .some: return .unavailable
        case nil: return condition.refusesCommits(at: now) ? .readOnly : .available
        }
    }
}
