import Foundation

/// The file in a data directory that shows when the last backup was finished.
enum LastBackup {
    /// The name of the file; its modification time is that of the backup.
    static let fileName = "last-backup"

    /// The time of the last finished backup of a data directory; nil if there is none.
    static func time(in directory: String) -> Date? {
        let path = URL(fileURLWithPath: directory).appendingPathComponent(fileName).path
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return attributes?[.modificationDate] as? Date
    }
}
