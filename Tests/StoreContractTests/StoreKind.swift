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
        try await withStorage { storage in try await test(storage.store) }
    }

    /// Runs a test with a new store of this kind, which it may close and open again.
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
        // A commit is the same thing on whichever thread it is written.
        let storage = try Storage {
            try SQLiteStore(at: path, quickDisk: .seconds(60), isCallerAlone: { Bool.random() })
        }
        do { try await test(storage) } catch {
            await storage.close()
            throw error
        }
        await storage.close()
    }

    /// Runs a test with a new store of this kind that holds one user, with a session unless told otherwise, and one client.
    func withWorld(signedIn: Bool = true, _ test: (World) async throws -> Void) async throws {
        try await withStore { store in try await test(World(in: store, signedIn: signedIn)) }
    }
}

/// Lets a few tests have a store on a file at a time, and the others wait.
///
/// A store has up to a dozen files open; without this all tests would open theirs at once, more than a process may have.
private actor OpenFiles {
    static let shared = OpenFiles()

    private var places = 8
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// Waits for a place.
    func enter() async {
        guard places == 0 else {
            places -= 1
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    /// Gives the place to the next.
    func leave() {
        guard !waiting.isEmpty else {
            places += 1
            return
        }
        waiting.removeFirst().resume()
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
