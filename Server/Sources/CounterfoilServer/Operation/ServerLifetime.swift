@_spi(Counterfoil) import CounterfoilProtocol

/// The fact that the process of a server has begun to stop.
final class ServerLifetime: Sendable {
    private let state = Mutex(false)

    var isStopping: Bool { state.withLock { $0 } }

    func beginStopping() { state.withLock { $0 = true } }
}
