import CounterfoilSQLite
import CounterfoilServer
import CounterfoilTesting
import Foundation
import Testing

/// The stores that must keep the contract.
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
        switch self {
        case .memory:
            try await test(MemoryStore())
        case .sqlite:
            let directory = try TemporaryDirectory()
            let store = try SQLiteStore(at: directory.path("store.sqlite"))
            try await test(store)
            await store.close()
        }
    }

    /// Runs a test with a new store of this kind in which one person and one application are.
    func withWorld(_ test: (World) async throws -> Void) async throws {
        try await withStore { store in try await test(World(in: store)) }
    }
}

/// A directory that is gone with its last reference.
final class TemporaryDirectory: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("store-contract-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func path(_ name: String) -> String { url.appendingPathComponent(name).path }

    /// Every file with its bytes.
    func contents() throws -> [String: Data] {
        let names = try FileManager.default.contentsOfDirectory(atPath: url.path)
        return try Dictionary(
            uniqueKeysWithValues: names.map { ($0, try Data(contentsOf: url.appendingPathComponent($0))) })
    }
}
