import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation

/// A server on a store with injected failures; both are closed and opened again, as in a restarted process.
final class RestartingServer {
    private let storage: Storage
    private(set) var store: TestStore
    private(set) var test: TestServer

    init(on storage: Storage) async throws {
        self.storage = storage
        store = TestStore(storage.store)
        test = try await TestServer(store: store, clock: FixedClock())
    }

    /// Advances the clock while the server records that the store responds.
    func serve(for seconds: TimeInterval) async throws {
        try await test.server.heartbeat.beat()
        test.clock.advance(by: seconds)
        try await store.recordService(at: test.clock.now, outageAfter: .infinity)
    }

    /// Returns a server of another process on the same store.
    func besideIt() async throws -> TestServer { try await TestServer(store: store, clock: test.clock) }

    /// Restarts the server with nothing but the stored data and the clock.
    func restart() async throws {
        try await storage.reopen()
        store = TestStore(storage.store)
        test = try await TestServer(store: store, clock: test.clock)
    }
}
