@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer

/// A check that takes long, of which one runs at a time for all requests.
///
/// A result that no request has waited for is that of the next request.
final class OneCheck: Sendable {
    private enum State {
        case idle
        case running(LaterValue<[ServerFinding]>)
        /// No request has got the findings of a check that has ended.
        case ended([ServerFinding], at: ContinuousClock.Instant)
    }

    /// The state that a request finds.
    private enum Beginning {
        case kept([ServerFinding])
        case joined(LaterValue<[ServerFinding]>)
        case new(LaterValue<[ServerFinding]>)
    }

    /// The time for which a result is kept.
    private static let lifetime = Duration.seconds(60)

    private let state = Mutex(State.idle)

    /// Returns the findings of the check that has ended or runs, or of a new one; nil if they are not there in time.
    func findings(
        within patience: Duration, _ check: @escaping @Sendable () async -> [ServerFinding]
    ) async -> [ServerFinding]? {
        switch begin() {
        case .kept(let findings): return findings
        case .joined(let result): return await wait(for: result, within: patience)
        case .new(let result):
            // It ends by the time limits of its connections, also if the request that began it does not wait.
            Task { [self] in
                let findings = await check()
                state.withLock { $0 = .ended(findings, at: .now) }
                result.set(findings)
            }
            return await wait(for: result, within: patience)
        }
    }

    private func begin() -> Beginning {
        state.withLock { state in
            switch state {
            case .running(let result): return .joined(result)
            case .ended(let findings, let time) where time.duration(to: .now) < Self.lifetime:
                state = .idle
                return .kept(findings)
            case .idle, .ended:
                let result = LaterValue<[ServerFinding]>()
                state = .running(result)
                return .new(result)
            }
        }
    }

    private func wait(
        for result: LaterValue<[ServerFinding]>, within patience: Duration
    ) async -> [ServerFinding]? {
        let findings = await withTaskGroup(of: [ServerFinding]?.self) { group in
            group.addTask { await result.wait() }
            group.addTask {
                try? await Task.sleep(for: patience)
                return nil
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first
        }
        if findings != nil {
            state.withLock { state in
                if case .ended = state { state = .idle }
            }
        }
        return findings
    }
}
