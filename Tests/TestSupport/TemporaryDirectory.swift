package import Foundation

/// A directory that is deleted with its last reference.
package final class TemporaryDirectory: Sendable {
    package let url: URL
    /// The directory that this one is in; it exists as long as this one is in use.
    private let parent: TemporaryDirectory?

    package convenience init() throws {
        try self.init("counterfoil-test", in: FileManager.default.temporaryDirectory, of: nil)
    }

    private init(_ name: String, in folder: URL, of parent: TemporaryDirectory?) throws {
        url = folder.appendingPathComponent("\(name)-\(UUID().uuidString)")
        self.parent = parent
        try FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    deinit {
        if parent == nil { try? FileManager.default.removeItem(at: url) }
    }

    package func file(_ name: String) -> URL { url.appendingPathComponent(name) }

    package func path(_ name: String) -> String { file(name).path }

    /// Creates a subdirectory with a new name, which is deleted with this directory.
    package func makeFolder(_ name: String) throws -> TemporaryDirectory {
        try TemporaryDirectory(name, in: url, of: self)
    }

    /// Returns every file with its content.
    package func contents() throws -> [String: Data] {
        let names = try FileManager.default.contentsOfDirectory(atPath: url.path)
        return try Dictionary(uniqueKeysWithValues: names.map { ($0, try Data(contentsOf: file($0))) })
    }
}
