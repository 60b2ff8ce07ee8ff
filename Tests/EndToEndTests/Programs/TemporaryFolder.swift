import Foundation

/// A temporary folder of one test.
struct TemporaryFolder: Sendable {
    let url: URL

    /// Waits for a free place, runs `body` with a new folder, and deletes the folder afterwards, also if
    /// `body` throws.
    static func run<Result>(_ body: (TemporaryFolder) async throws -> Result) async throws -> Result {
        let url = FileManager.default.temporaryDirectory
            .appendingPathComponent("counterfoil-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(at: url) }
        await Turnstile.shared.enter()
        do {
            let result = try await body(TemporaryFolder(url: url))
            await Turnstile.shared.leave()
            return result
        } catch {
            await Turnstile.shared.leave()
            throw error
        }
    }

    /// Returns the path of a file in the folder.
    func path(_ name: String) -> String { url.appendingPathComponent(name).path }

    /// Creates a subfolder with a new name.
    func makeFolder(_ name: String) throws -> TemporaryFolder {
        let folder = TemporaryFolder(url: url.appendingPathComponent("\(name)-\(UUID().uuidString)"))
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        return folder
    }
}
