import CounterfoilServer
import CounterfoilTesting
import Foundation

/// A server on a store that fails when it is told to; both end and begin again, like the process that they are in.
final class RestartingServer {
    private let storage: Storage
    private(set) var store: FaultyStore
    private(set) var test: TestServer

    init(on storage: Storage) async throws {
        self.storage = storage
        store = FaultyStore(storage.store)
        test = try await TestServer(store: store, clock: FixedClock())
    }

    /// Lets time go by in which the server records that the store answers.
    func serve(for seconds: TimeInterval) async throws {
        try await test.server.heartbeat.beat()
        test.clock.advance(by: seconds)
        try await store.recordService(at: test.clock.now, outageAfter: .infinity)
    }

    /// Another process on the same store.
    func besideIt() async throws -> TestServer { try await TestServer(store: store, clock: test.clock) }

    /// Nothing is left but what the storage kept, and the time of day.
    func restart() async throws {
        try await storage.reopen()
        store = FaultyStore(storage.store)
        test = try await TestServer(store: store, clock: test.clock)
    }
}
