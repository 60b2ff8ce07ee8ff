@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore

/// The faults of a ``TestStore``, and the number of calls of its operations.
final class StoreFaults: Sendable {
    private struct State {
        var faults: [StoreOperation: StoreFault] = [:]
        /// The fault of every operation.
        var outage: StoreFault?
        var losses: [StoreOperation: Loss] = [:]
        var calls: [StoreOperation: Int] = [:]
        var callsOutsideOfRequests: [StoreOperation: Int] = [:]
        var interludes: [StoreOperation: Interlude] = [:]
        var disturbances: Int64 = 0
    }

    /// A closure that runs before an operation, with the request that calls it; nil outside of requests.
    typealias Interlude = @Sendable (RequestContext?) async -> Void

    private struct Loss {
        let isCommitted: Bool
        var left: Int
    }

    private let state = Mutex(State())

    func fail(_ operations: [StoreOperation], with fault: StoreFault) {
        state.withLock { state in
            state.disturbances += 1
            for operation in operations { state.faults[operation] = fault }
        }
    }

    func failEverything(with fault: StoreFault) {
        state.withLock { state in
            state.disturbances += 1
            state.outage = fault
        }
    }

    func lose(_ operations: [StoreOperation], committing isCommitted: Bool, times: Int) {
        state.withLock { state in
            for operation in operations { state.losses[operation] = Loss(isCommitted: isCommitted, left: times) }
        }
    }

    func recover() {
        state.withLock { state in
            state.faults = [:]
            state.outage = nil
            state.losses = [:]
        }
    }

    func before(_ operation: StoreOperation, do interlude: @escaping Interlude) {
        state.withLock { state in
            state.disturbances += 1
            state.interludes[operation] = interlude
        }
    }

    var calls: [StoreOperation: Int] { state.withLock { $0.calls } }

    var callsOutsideOfRequests: [StoreOperation: Int] { state.withLock { $0.callsOutsideOfRequests } }

    /// The number of calls after which a cache of the registry must meet a fault or a closure.
    var disturbances: Int64 { state.withLock { $0.disturbances } }

    /// Counts a call, runs the closure that waits for it, and throws the fault of the operation.
    func enter(_ operation: StoreOperation, for request: RequestContext?) async throws(StoreFault) {
        let (fault, interlude) = state.withLock { state in
            state.calls[operation, default: 0] += 1
            if request == nil { state.callsOutsideOfRequests[operation, default: 0] += 1 }
            return (state.faults[operation] ?? state.outage, state.interludes.removeValue(forKey: operation))
        }
        await interlude?(request)
        if let fault { throw fault }
    }

    /// Runs a commit, unless the operation fails; loses its answer, or the commit with its answer, if a test says so.
    func commit<Outcome>(
        _ operation: StoreOperation, for request: RequestContext?, _ commit: () async throws(StoreFault) -> Outcome
    ) async throws(StoreFault) -> Outcome {
        try await enter(operation, for: request)
        let isCommitted: Bool? = state.withLock { state in
            guard let loss = state.losses[operation], loss.left > 0 else { return nil }
            state.losses[operation]?.left -= 1
            return loss.isCommitted
        }
        guard let isCommitted else { return try await commit() }
        if isCommitted { _ = try await commit() }
        throw .unconfirmed("the connection was lost during the commit")
    }
}
