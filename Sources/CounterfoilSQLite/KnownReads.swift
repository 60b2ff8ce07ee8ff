import GRDB
import Synchronization

/// Answers of the database that are given again for as long as the version of what they were read from is the same.
///
/// That of the whole database is told by SQLite (``DataVersion``), that of applications and APIs by a number that every change
/// to them renews, in whatever process.
final class KnownReads<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// How many answers are known at most.
    private let capacity: Int
    private let known = Mutex<(version: Int64, values: [Key: Value])>((-1, [:]))

    init(capacity: Int) { self.capacity = capacity }

    /// What is known for a key since the last change, or what `read` gives.
    ///
    /// - Parameters:
    ///   - version: The version of now, asked for before this call.
    ///   - read: Reads it after that.
    func value(of key: Key, at version: Int64, orRead read: () throws -> Value) rethrows -> Value {
        let value = known.withLock { known in known.version == version ? known.values[key] : nil }
        if let value { return value }
        let read = try read()
        known.withLock { known in
            // What was read can be newer than the version, and is asked for only while nothing is.
            if known.version != version || known.values.count >= capacity { known = (version, [:]) }
            known.values[key] = read
        }
        return read
    }
}

/// Tells when a database has changed, by anybody's commit in this process or in another.
///
/// SQLite tells a connection when another one has committed (`PRAGMA data_version`), which costs far less than a read. A connection
/// of its own does nothing but ask for that.
final class DataVersion: Sendable {
    private let connection: DatabaseQueue

    /// The configuration is one that only reads.
    init(path: String, configuration: Configuration) throws {
        connection = try DatabaseQueue(path: path, configuration: configuration)
    }

    /// A number that changes whenever somebody commits.
    var current: Int64 {
        get throws {
            try connection.unsafeRead { database in
                try database.first("PRAGMA data_version") { columns in try columns.integer() } ?? -1
            }
        }
    }

    func close() throws { try connection.close() }
}
