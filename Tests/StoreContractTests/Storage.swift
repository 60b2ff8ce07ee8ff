import CounterfoilSQLite
import CounterfoilServer

/// Where a store keeps what it is given, for as long as a test runs.
final class Storage {
    private let open: () throws -> any AuthorizationServerStore
    private(set) var store: any AuthorizationServerStore

    /// Opens a store, in a way that can be repeated.
    init(_ open: @escaping () throws -> any AuthorizationServerStore) throws {
        self.open = open
        store = try open()
    }

    /// Closes the store and opens it again, as when a process ends and another begins.
    func reopen() async throws {
        await close()
        store = try open()
    }

    func close() async { await (store as? SQLiteStore)?.close() }
}
