import CounterfoilTesting

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

    /// Nothing is left but what the storage kept, and the time of day.
    func restart() async throws {
        try await storage.reopen()
        store = FaultyStore(storage.store)
        test = try await TestServer(store: store, clock: test.clock)
    }
}
