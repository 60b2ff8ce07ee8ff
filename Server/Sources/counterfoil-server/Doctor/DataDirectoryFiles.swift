import Foundation

/// The attributes of a file that the checks need; a link has those of the file to which it leads.
struct FileState {
    let path: String
    /// The permission bits, such as 0o600.
    let mode: Int
    let owner: Int
    let bytes: Int
    let modified: Date
}

extension FileState {
    /// Reads the attributes of a file, which is not opened; returns nil if it is missing.
    init?(at path: String) {
        let file = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: file) else { return nil }
        func number(_ key: FileAttributeKey) -> Int { (attributes[key] as? NSNumber)?.intValue ?? 0 }
        self.init(
            path: path, mode: number(.posixPermissions), owner: number(.ownerAccountID), bytes: number(.size),
            modified: attributes[.modificationDate] as? Date ?? .distantPast)
    }
}

/// The files of a data directory, as the system describes them; none is opened.
struct DataDirectoryFiles {
    let path: String

    func path(of name: String) -> String { URL(fileURLWithPath: path).appendingPathComponent(name).path }

    /// The state of the directory, or of a file in it; nil if it is missing.
    func state(of name: String? = nil) -> FileState? { FileState(at: name.map(path(of:)) ?? path) }

    /// The free bytes of the disk, for users who are not root; nil if the system does not say.
    var freeBytes: Int? {
        let attributes = try? FileManager.default.attributesOfFileSystem(forPath: path)
        return (attributes?[.systemFreeSize] as? NSNumber)?.intValue
    }

    /// The names of the copies that upgrades have left.
    var preUpgradeCopies: [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return names.filter { $0.hasPrefix("counterfoil.db.version-") }.sorted()
    }
}
