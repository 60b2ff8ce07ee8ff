import CounterfoilProtocol

/// The fact that the process of a server has begun to stop.
final class ServerLifetime: Sendable {
    private struct State {
        var isStopping = false
        var heartbeatFails = false
    }

    private let state = Mutex(State())

    var isStopping: Bool { state.withLock(\.isStopping) }

    /// Whether the store refused the last heartbeat of this process, as it does on a full disk.
    var heartbeatFails: Bool { state.withLock(\.heartbeatFails) }

    func beginStopping() { state.withLock { $0.isStopping = true } }

    func noteHeartbeat(isWritten: Bool) { state.withLock { $0.heartbeatFails = !isWritten } }
}
