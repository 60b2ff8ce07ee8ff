import CounterfoilSQLite
import CounterfoilServer

/// The storage of a store for the duration of a test.
final class Storage {
    private let open: () throws -> any AuthorizationServerStore
    private(set) var store: any AuthorizationServerStore

    /// Opens a store with a closure that can be called again.
    init(_ open: @escaping () throws -> any AuthorizationServerStore) throws {
        self.open = open
        store = try open()
    }

    /// Closes the store and opens it again, as a restarted process does.
    func reopen() async throws {
        await close()
        store = try open()
    }

    func close() async { await (store as? SQLiteStore)?.close() }
}
