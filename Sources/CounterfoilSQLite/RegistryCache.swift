import GRDB
import Synchronization

/// A cache of clients, client secrets or APIs, valid for one revision of the registry.
///
/// The registry revision is a number in the table `registry`. Triggers renew it with each change of a client, a client
/// secret or an API by any process. The cache also stores that a record does not exist.
final class RegistryCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// The maximum number of cached values; the cache is cleared when it is full.
    private let capacity: Int
    private let cached = Mutex<(revision: Int64, values: [Key: Value])>((0, [:]))

    init(capacity: Int) { self.capacity = capacity }

    /// Returns the cached value of a key, or reads and caches it.
    ///
    /// - Parameters:
    ///   - revision: The current registry revision, read before this call.
    ///   - read: The query, which runs after the revision was read.
    func value(of key: Key, at revision: Int64, orRead read: () throws -> Value) rethrows -> Value {
        let value = cached.withLock { cached in cached.revision == revision ? cached.values[key] : nil }
        if let value { return value }
        let read = try read()
        cached.withLock { cached in
            // The value may be newer than `revision`. Then `revision` is outdated already, and the cached value is
            // never used.
            if cached.revision != revision || cached.values.count >= capacity { cached = (revision, [:]) }
            cached.values[key] = read
        }
        return read
    }
}

extension Database {
    func registryRevision() throws -> Int64 {
        try first("SELECT revision FROM registry") { columns in try columns.integer() } ?? 0
    }
}
