import CounterfoilSQL

/// A store that a test can close, and open again on the same data.
final class Storage {
    /// An open store, and how it is closed.
    struct Opened {
        let store: any SQLStore
        let close: () async -> Void
    }

    private let open: () async throws -> Opened
    private var opened: Opened

    /// Opens a store with a closure that can be called again.
    init(_ open: @escaping () async throws -> Opened) async throws {
        self.open = open
        opened = try await open()
    }

    var store: any SQLStore { opened.store }

    /// Closes the store and opens it again, as a restarted process does.
    func reopen() async throws {
        await close()
        opened = try await open()
    }

    func close() async { await opened.close() }
}
