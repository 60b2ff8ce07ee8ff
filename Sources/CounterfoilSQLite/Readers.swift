import GRDB
import Synchronization

/// The connections that read.
///
/// A caller reads on its own thread, so that there are never more of them than threads that serve requests; one is opened when
/// all are in use. What they read is asked by column, so that none of them keeps an eye on the schema.
final class Readers: Sendable {
    /// How many pages a connection that reads knows at most.
    ///
    /// It forgets all of them with each commit. So many SQLite allocates once for good; each one more would be freed with each
    /// commit and allocated again after it.
    static let cacheSize = 20

    private let path: String
    private let configuration: Configuration
    private let idle: Mutex<[DatabaseQueue]?>

    /// The configuration is one that only reads.
    init(path: String, configuration: Configuration) throws {
        self.path = path
        self.configuration = configuration
        // The first one finds out whether the file can be read at all.
        idle = Mutex([try DatabaseQueue(path: path, configuration: configuration)])
    }

    func read<Value>(_ statement: (Database) throws -> Value) throws -> Value {
        let reader = try takeOne()
        defer { giveBack(reader) }
        return try reader.unsafeRead(statement)
    }

    /// Closes those that nobody uses; one that is in use is closed when it is given back.
    func close() throws {
        let idle = idle.withLock { idle in
            defer { idle = nil }
            return idle ?? []
        }
        for reader in idle { try reader.close() }
    }

    private func takeOne() throws -> DatabaseQueue {
        let reader = try idle.withLock { idle in
            guard idle != nil else { throw DatabaseError(resultCode: .SQLITE_MISUSE, message: "the store is closed") }
            return idle?.popLast()
        }
        return try reader ?? DatabaseQueue(path: path, configuration: configuration)
    }

    private func giveBack(_ reader: DatabaseQueue) {
        let isClosed = idle.withLock { idle in
            idle?.append(reader)
            return idle == nil
        }
        if isClosed { try? reader.close() }
    }
}
