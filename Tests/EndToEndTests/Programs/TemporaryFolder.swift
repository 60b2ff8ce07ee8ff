import Foundation

/// A folder for one test.
struct TemporaryFolder: Sendable {
    let url: URL

    /// Makes the folder for the time of `body`, when it is this test's turn; it is gone afterwards, however `body` ends.
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

    /// The path of something in the folder.
    func path(_ name: String) -> String { url.appendingPathComponent(name).path }

    /// A folder in the folder that did not exist before.
    func makeFolder(_ name: String) throws -> TemporaryFolder {
        let folder = TemporaryFolder(url: url.appendingPathComponent("\(name)-\(UUID().uuidString)"))
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        return folder
    }
}
