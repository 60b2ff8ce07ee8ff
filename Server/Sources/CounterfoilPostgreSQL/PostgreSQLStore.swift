// The operations of a store are in this module, so a program that uses the store needs no second import.
@_exported public import CounterfoilSQL
public import CounterfoilStore
import Foundation
import PostgreSQLDriver

/// The store of the authorization server in a PostgreSQL database, for one or several servers.
///
/// A committed change is as durable as the database makes it. Other processes may use the same database at the same
/// time.
public final class PostgreSQLStore: SQLStore {
    /// The connections to the database.
    public let database: SQLDatabase
    let connections: StoreConnections
    let engine: PostgreSQLEngine
    let proofBudget: ProofBudget

    private init(_ threads: ConnectionThreads, reporting unsupported: UnsupportedValues) {
        connections = StoreConnections(threads)
        engine = PostgreSQLEngine(connections)
        database = SQLDatabase(engine, reporting: unsupported)
        proofBudget = ProofBudget()
    }

    private init(_ store: PostgreSQLStore, for request: RequestContext) {
        connections = store.connections
        engine = store.engine.serving(request)
        database = store.database.serving(request)
        proofBudget = store.proofBudget
    }

    /// Returns this store for the operations of one request.
    public func serving(_ request: RequestContext) -> PostgreSQLStore { PostgreSQLStore(self, for: request) }

    /// The deadline of the request; nil for a service or a command.
    var deadline: ContinuousClock.Instant? { database.request?.deadline }

    /// The number of connections that a store opens at most, unless ``open(_:connections:reporting:)`` gets another.
    public static let standardConnections = ConnectionThreads.Settings().threads

    /// Connects to a database, which must have the tables of this version.
    ///
    /// - Parameters:
    ///   - string: The connection string.
    ///   - connections: The maximum number of connections, at least 1. Each is opened when it is needed.
    ///   - unsupported: The reporter of values that a newer version has written, and because of which this store does
    ///     not use a record.
    /// - Throws: ``OpeningRefusal``, which says what to do.
    public static func open(
        _ string: ConnectionString, connections: Int = standardConnections,
        reporting unsupported: UnsupportedValues = UnsupportedValues { _ in }
    ) async throws(OpeningRefusal) -> PostgreSQLStore {
        try await check(string)
        var settings = ConnectionThreads.Settings()
        settings.threads = connections
        settings.describe = { "\(OpeningRefusal($0, of: "\(string)"))" }
        do {
            return PostgreSQLStore(
                try await ConnectionThreads.open(string.uri, settings: settings), reporting: unsupported)
        } catch {
            throw OpeningRefusal(error, of: "\(string)")
        }
    }

    /// Checks that a database has tables that this version can use; throws ``OpeningRefusal`` otherwise.
    public static func check(_ string: ConnectionString) async throws(OpeningRefusal) {
        try await withConnection(to: string, rights: .use) { connection, deadline throws(OpeningRefusal) in
            try SchemaVersion.check(
                try Self.refusing(string) { try SchemaVersion.read(on: connection, by: deadline) }, of: "\(string)")
        }
    }

    /// Creates the tables of this version, or upgrades those of an earlier one; writes nothing if they are up to date.
    ///
    /// - Returns: The number of steps that were applied.
    /// - Throws: ``OpeningRefusal``; nothing was changed.
    @discardableResult
    public static func migrate(_ string: ConnectionString) async throws(OpeningRefusal) -> Int {
        try await withConnection(to: string, rights: .create) { connection, deadline throws(OpeningRefusal) in
            try Self.refusing(string) { try SchemaVersion.migrate("\(string)", on: connection, by: deadline) }
        }
    }

    /// Reads the settings that ``note(_:)`` has stored, by name.
    public func recordedSettings() async throws(StoreFault) -> [String: String] {
        let rows = try await database.engine.read { connection in
            try connection.all("SELECT name, text FROM noted_settings") { columns in
                (name: try columns.text(), text: try columns.text())
            }
        }
        return Dictionary(uniqueKeysWithValues: rows.map { ($0.name, $0.text) })
    }

    /// Stores settings of the server that administration commands need, by name.
    public func note(_ settings: [String: String]) async throws(StoreFault) {
        try await database.engine.commit { connection in
            for (name, text) in settings.sorted(by: { $0.key < $1.key }) { try connection.note(text, as: name) }
        }
    }

    /// Completes the requests that wait for a connection, refuses later ones, and closes the connections.
    public func close() async { await connections.threads.close() }

    /// The limits of a migration, in which a statement can rewrite a table.
    private static let patience = SessionLimits(statement: .seconds(3600), lock: .seconds(30))

    /// Checks a database, and runs a function with a connection of its own, on a thread that may wait.
    static func withConnection<Value: Sendable>(
        to string: ConnectionString, rights: DatabaseRights,
        _ body: @escaping @Sendable (Connection, ContinuousClock.Instant) throws(OpeningRefusal) -> Value
    ) async throws(OpeningRefusal) -> Value {
        try await ConnectionThreads.onThread { () throws(OpeningRefusal) in
            let connection = try OpeningCheck(string: string, limits: patience, rights: rights).run()
            defer { connection.close() }
            return try body(connection, .now + patience.statement)
        }
    }

    private static func refusing<Value>(
        _ string: ConnectionString, _ body: () throws -> Value
    ) throws(OpeningRefusal) -> Value {
        do {
            return try body()
        } catch let refusal as OpeningRefusal {
            throw refusal
        } catch let error as ServerError where error.state == .insufficientPrivilege {
            throw .missingRights(
                database: "\(string)", reason: error.description,
                remedy: "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO …")
        } catch is SchemaVersion.Unreleased {
            throw .unreleasedTables(database: "\(string)")
        } catch let error as ServerError where !error.state.isPassing {
            throw .failed(database: "\(string)", reason: error.description)
        } catch {
            throw OpeningRefusal(passing: error, of: "\(string)")
        }
    }
}
