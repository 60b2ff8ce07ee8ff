import CounterfoilProtocol
import GRDB

/// A cache of records of the registry, which is valid for one registry revision.
///
/// The registry contains the clients, client secrets, APIs, scopes, and the policy for unregistered clients. Its
/// revision is a number in the table `registry`. When any process changes such a record, a trigger gives it a new
/// value. The cache also stores that a record does not exist.
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
            // If another process has changed the registry in between, the value is newer than `revision`. No later call
            // has that revision, so the cached value is then never used.
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
