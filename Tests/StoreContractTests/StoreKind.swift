import CounterfoilSQLite
import CounterfoilServer
import CounterfoilServerTesting
import Foundation
import TestSupport
import Testing

/// The stores that must satisfy the contract.
enum StoreKind: CaseIterable, CustomTestStringConvertible {
    case memory
    case sqlite

    var testDescription: String {
        switch self {
        case .memory: "memory"
        case .sqlite: "SQLite"
        }
    }

    /// Runs a test with a new store of this kind.
    func withStore(_ test: (any AuthorizationServerStore) async throws -> Void) async throws {
        try await withStorage { storage in try await test(storage.store) }
    }

    /// Runs a test with a new store of this kind, which the test can close and open again.
    func withStorage(_ test: (Storage) async throws -> Void) async throws {
        switch self {
        case .memory:
            let store = MemoryStore()
            try await test(Storage { store })
        case .sqlite:
            try await Self.openFiles.pass { try await Self.withFile(test) }
        }
    }

    /// The limit on tests that have a database file open.
    ///
    /// A store opens up to a dozen files; without the limit, concurrent tests would exceed the limit of the
    /// process.
    private static let openFiles = Turnstile(places: 8)

    private static func withFile(_ test: (Storage) async throws -> Void) async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("store.sqlite")
        let storage = try Storage { try SQLiteStore(at: path) }
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
