import CounterfoilPostgreSQL
import CounterfoilSQL
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import PostgreSQLTesting
import TestSupport
import Testing

/// The stores that must satisfy the contract.
enum StoreKind: CaseIterable, CustomTestStringConvertible {
    case sqlite
    case postgreSQL
    /// Two stores on one database, as of two servers, that take turns with each operation.
    case twoNodes

    var testDescription: String {
        switch self {
        case .sqlite: "SQLite"
        case .postgreSQL: "PostgreSQL"
        case .twoNodes: "PostgreSQL, two nodes"
        }
    }

    /// Runs a test with a new store of this kind.
    func withStore(_ test: (any SQLStore) async throws -> Void) async throws {
        try await withStorage { storage in try await test(storage.store) }
    }

    /// Runs a test with a new store of this kind, which the test can close and open again.
    func withStorage(_ test: (Storage) async throws -> Void) async throws {
        switch self {
        case .sqlite:
            let directory = try TemporaryDirectory()
            try await Self.openFiles.pass {
                try await Self.use(test) {
                    let store = try SQLiteStore(at: directory.path("store.sqlite"))
                    return Storage.Opened(store: store) { await store.close() }
                }
            }
        case .postgreSQL:
            try await TestDatabase.with { string in
                try await Self.use(test) {
                    let store = try await PostgreSQLStore.open(string)
                    return Storage.Opened(store: store) { await store.close() }
                }
            }
        case .twoNodes:
            try await TestDatabase.with { string in
                try await Self.use(test) {
                    let nodes = try await (PostgreSQLStore.open(string), PostgreSQLStore.open(string))
                    let store = AlternatingStore(nodes.0, nodes.1)
                    return Storage.Opened(store: store) { await store.close() }
                }
            }
        }
    }

    /// Runs a test with two stores on the same data, as of two processes.
    func withBoth(
        _ test: (_ store: any SQLStore, _ other: any SQLStore) async throws -> Void
    ) async throws {
        switch self {
        case .sqlite:
            let directory = try TemporaryDirectory()
            let store = try SQLiteStore(at: directory.path("store.sqlite"))
            let other = try SQLiteStore(at: directory.path("store.sqlite"), createIfMissing: false)
            try await test(store, other)
            await other.close()
            await store.close()
        case .postgreSQL, .twoNodes:
            try await TestDatabase.with { string in
                let (store, other) = try await (PostgreSQLStore.open(string), PostgreSQLStore.open(string))
                try await test(store, other)
                await other.close()
                await store.close()
            }
        }
    }

    /// The limit on tests that have a database file open.
    ///
    /// A store opens up to a dozen files; without the limit, concurrent tests would exceed the limit of the
    /// process.
    private static let openFiles = Turnstile(places: 8)

    private static func use(
        _ test: (Storage) async throws -> Void, opening open: @escaping () async throws -> Storage.Opened
    ) async throws {
        let storage = try await Storage(open)
        do { try await test(storage) } catch {
            await storage.close()
            throw error
        }
        await storage.close()
    }

    /// Runs a test with a new store of this kind that contains one user and one client.
    ///
    /// - Parameter signedIn: whether the user has a session.
    func withWorld(signedIn: Bool = true, _ test: (World) async throws -> Void) async throws {
        try await withStore { store in try await test(World(in: store, signedIn: signedIn)) }
    }
}
