package import Foundation

/// The checkout, which contains both packages, the documentation and the scripts.
package enum Repository {
    /// The nearest folder above this file that contains `CONTRIBUTING.md`.
    package static let root: URL = {
        var folder = URL(fileURLWithPath: #filePath)
        repeat {
            folder.deleteLastPathComponent()
        } while !FileManager.default.fileExists(atPath: folder.appendingPathComponent("CONTRIBUTING.md").path)
            && folder.pathComponents.count > 1
        return folder
    }()

    /// Reads a file, such as `docs/alerts.md`.
    package static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }
}
