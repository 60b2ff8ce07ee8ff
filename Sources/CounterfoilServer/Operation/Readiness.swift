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
        let deadline = ContinuousClock.now + Self.patience
        do {
            try await RequestDeadline.$current.withValue(deadline) { try await registry.checkStore() }
            condition.noteAnswer(at: .now)
        } catch {
            if case .damaged? = error as? StoreFault { return .damaged }
            let now = ContinuousClock.now
            guard now >= deadline, condition.hasAnswered(at: now) else { return .unavailable }
        }
        return condition.refusesCommits(at: .now) ? .readOnly : .available
    }
}
