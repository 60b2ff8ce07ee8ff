@_spi(Counterfoil) import CounterfoilProtocol
import Logging
import ServiceLifecycle

/// The time between the finalization of an order and the store, in which only this process has the key of the
/// certificate.
///
/// A stop waits for the store, for a bounded time: otherwise the certificate would be lost, and the next start would
/// order another one.
final class FinalizedOrder: Sendable {
    private struct State {
        var isOpen = false
        var waiting: AsyncStream<Void>.Continuation?
    }

    private let state = Mutex(State())

    /// The maximum time for which a stop waits.
    private static let patience = Duration.seconds(5)

    func begin() { state.withLock { $0.isOpen = true } }

    func end() {
        let waiting = state.withLock { state in
            defer { state = State() }
            return state.waiting
        }
        waiting?.finish()
    }

    /// Runs `body` until the server stops and no order is finalized; then `body` is cancelled.
    func runUntilStopped(_ logger: Logger, _ body: @escaping @Sendable () async -> Void) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await body() }
            group.addTask {
                try? await gracefulShutdown()
                await self.wait(logger)
            }
            await group.next()
            group.cancelAll()
        }
    }

    private func wait(_ logger: Logger) async {
        let (ends, continuation) = AsyncStream.makeStream(of: Void.self)
        let isOpen = state.withLock { state in
            if state.isOpen { state.waiting = continuation }
            return state.isOpen
        }
        guard isOpen, !Task.isCancelled else { return }
        logger.notice("the server stops after the certificate of the current order is stored")
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await _ in ends {} }
            group.addTask { try? await Task.sleep(for: Self.patience) }
            await group.next()
            group.cancelAll()
        }
    }
}
