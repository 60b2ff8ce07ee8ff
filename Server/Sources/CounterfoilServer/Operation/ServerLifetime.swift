@_spi(Counterfoil) import CounterfoilProtocol

/// The beginning of the process of a server, and the fact that it has begun to stop.
package final class ServerLifetime: Sendable {
    /// The time at which the server was created, by the monotonic clock.
    private let begun = ContinuousClock.now
    private let state = Mutex(false)

    /// The time since the server was created.
    package var age: Duration { begun.duration(to: .now) }

    var isStopping: Bool { state.withLock { $0 } }

    func beginStopping() { state.withLock { $0 = true } }
}
