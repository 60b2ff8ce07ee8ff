import CounterfoilSQLite
import CounterfoilServer
import CounterfoilServerTesting
import Foundation
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
            await OpenFiles.shared.enter()
            do { try await Self.withFile(test) } catch {
                await OpenFiles.shared.leave()
                throw error
            }
            await OpenFiles.shared.leave()
        }
    }

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

/// A limit on the number of tests that have a database file open.
///
/// A store opens up to a dozen files; without the limit, concurrent tests would exceed the limit of the
/// process.
private actor OpenFiles {
    static let shared = OpenFiles()

    private var places = 8
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// Waits for a free place.
    func enter() async {
        guard places == 0 else {
            places -= 1
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    /// Passes the place to the next waiting test.
    func leave() {
        guard !waiting.isEmpty else {
            places += 1
            return
        }
        waiting.removeFirst().resume()
    }
}

/// A directory that is deleted with its last reference.
final class TemporaryDirectory: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("store-contract-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func path(_ name: String) -> String { url.appendingPathComponent(name).path }

    /// Returns every file with its content.
    func contents() throws -> [String: Data] {
        let names = try FileManager.default.contentsOfDirectory(atPath: url.path)
        return try Dictionary(
            uniqueKeysWithValues: names.map { ($0, try Data(contentsOf: url.appendingPathComponent($0))) })
    }
}
