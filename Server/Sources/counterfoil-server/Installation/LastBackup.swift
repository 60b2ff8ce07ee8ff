import CounterfoilSQLite
import CounterfoilServer
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

    /// Notes in a data directory that a backup is finished.
    ///
    /// The file replaces the former one, so a link in its place leads nowhere. Without the right to write it, the
    /// backup counts nevertheless.
    static func note(in directory: String, at time: Date) {
        let file = URL(fileURLWithPath: directory).appendingPathComponent(fileName)
        do { try DraftFile.replace(file.path, with: Array((Moment.text(time) + "\n").utf8)) } catch {
            Output.note("warning: the time of the backup is not noted in \(file.path), so alerts do not know of it")
        }
    }
}
