@_spi(Counterfoil) import CounterfoilProtocol
import GRDB

/// A pool of read-only connections.
///
/// A caller reads on the thread that it runs on, so there are never more readers than threads that serve requests. A
/// new reader is opened when all others are in use.
///
/// Before a read, a reader does not check whether the schema has changed. Every query names its columns, so its result
/// has the same columns after a migration by another process.
final class Readers: Sendable {
    private let path: String
    private let configuration: Configuration
    private let idle: Mutex<[DatabaseQueue]?>

    /// Opens the first reader with a read-only configuration.
    init(path: String, configuration: Configuration) throws {
        self.path = path
        self.configuration = configuration
        // Opening the first reader shows whether the file can be read at all.
        idle = Mutex([try DatabaseQueue(path: path, configuration: configuration)])
    }

    func read<Value>(_ statement: (Database) throws -> Value) throws -> Value {
        let reader = try takeOne()
        defer { giveBack(reader) }
        return try reader.unsafeRead(statement)
    }

    /// Closes the idle readers; a reader in use is closed when it is given back.
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
