// The operations of a store are in this module, so a program that uses the store needs no second import.
@_exported public import CounterfoilSQL
public import CounterfoilServer
import Foundation

/// The store of the authorization server in a PostgreSQL database, for one or several servers.
///
/// A committed change is as durable as the database makes it. Other processes may use the same database at the same
/// time.
public final class PostgreSQLStore: SQLStore {
    public let database: SQLDatabase
    private let threads: ConnectionThreads

    private init(_ threads: ConnectionThreads, reporting unsupported: UnsupportedValues) {
        self.threads = threads
        database = SQLDatabase(PostgreSQLEngine(threads: threads), reporting: unsupported)
    }

    /// Connects to a database, which must have the tables of this version.
    ///
    /// - Parameters:
    ///   - string: The connection string.
    ///   - unsupported: The reporter of values that a newer version has written, and because of which this store does
    ///     not use a record.
    /// - Throws: ``OpeningRefusal``, which says what to do.
    public static func open(
        _ string: ConnectionString, reporting unsupported: UnsupportedValues = UnsupportedValues { _ in }
    ) async throws(OpeningRefusal) -> PostgreSQLStore {
        try await withConnection(to: string) { connection, deadline throws(OpeningRefusal) in
            try SchemaVersion.check(
                try Self.refusing(string) { try SchemaVersion.read(on: connection, by: deadline) }, of: "\(string)")
        }
        return PostgreSQLStore(try await ConnectionThreads.open(string), reporting: unsupported)
    }

    /// Creates the tables of this version, or upgrades those of an earlier one; writes nothing if they are up to date.
    ///
    /// - Returns: The number of steps that were applied.
    /// - Throws: ``OpeningRefusal``; nothing was changed.
    @discardableResult
    public static func migrate(_ string: ConnectionString) async throws(OpeningRefusal) -> Int {
        try await withConnection(to: string) { connection, deadline throws(OpeningRefusal) in
            try Self.refusing(string) { try SchemaVersion.migrate(on: connection, by: deadline) }
        }
    }

    /// Completes the requests that wait for a connection, refuses later ones, and closes the connections.
    public func close() async { await threads.close() }

    /// Runs a function with a connection of its own, on a thread that may wait.
    private static func withConnection<Value: Sendable>(
        to string: ConnectionString,
        _ body: @escaping @Sendable (Connection, ContinuousClock.Instant) throws(OpeningRefusal) -> Value
    ) async throws(OpeningRefusal) -> Value {
        let result: Result<Value, OpeningRefusal> = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    returning: Result { () throws(OpeningRefusal) in
                        let connection = try Connection.open(string).connection
                        defer { connection.close() }
                        return try body(connection, .now + .seconds(60))
                    })
            }
        }
        return try result.get()
    }

    private static func refusing<Value>(
        _ string: ConnectionString, _ body: () throws -> Value
    ) throws(OpeningRefusal) -> Value {
        do { return try body() } catch { throw .unreachable(database: "\(string)", reason: "\(StoreFault(error))") }
    }
}
