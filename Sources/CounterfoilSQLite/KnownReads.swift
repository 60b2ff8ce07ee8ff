import GRDB
import Synchronization

/// A cache of query results, valid as long as the version of their data is the same.
///
/// The version of the whole database comes from SQLite (``DataVersion``). The version of clients and APIs is
/// a number in the table `registry`, which triggers renew with each change, in whatever process.
final class KnownReads<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// The most cached results; the cache is cleared when it is full.
    private let capacity: Int
    private let known = Mutex<(version: Int64, values: [Key: Value])>((-1, [:]))

    init(capacity: Int) { self.capacity = capacity }

    /// Returns the cached result for a key, or reads and caches it.
    ///
    /// - Parameters:
    ///   - version: The current version, read before this call.
    ///   - read: The query, which runs after the version was read.
    func value(of key: Key, at version: Int64, orRead read: () throws -> Value) rethrows -> Value {
        let value = known.withLock { known in known.version == version ? known.values[key] : nil }
        if let value { return value }
        let read = try read()
        known.withLock { known in
            // If the result is newer than `version`, that version is no longer current, so the result is
            // never served.
            if known.version != version || known.values.count >= capacity { known = (version, [:]) }
            known.values[key] = read
        }
        return read
    }
}

/// The version of the database, which changes with every commit, in this process or in another.
///
/// `PRAGMA data_version` tells a connection when another one has committed, and costs far less than a query.
/// This connection of its own runs nothing else.
final class DataVersion: Sendable {
    private let connection: DatabaseQueue

    /// Opens the connection with a read-only configuration.
    init(path: String, configuration: Configuration) throws {
        connection = try DatabaseQueue(path: path, configuration: configuration)
    }

    /// A number that changes with every commit.
    var current: Int64 {
        get throws {
            try connection.unsafeRead { database in
                try database.first("PRAGMA data_version") { columns in try columns.integer() } ?? -1
            }
        }
    }

    func close() throws { try connection.close() }
}
