import Foundation

/// The sizes of a database that only the database knows.
package struct StoreSpace: Sendable, Hashable {
    /// The number of bytes of a PostgreSQL database; nil for a file.
    package let database: Int?
    /// The number of bytes of a file that deleted records have left; nil for PostgreSQL.
    ///
    /// New records use them first. The file itself becomes no smaller.
    package let free: Int?

    package init(database: Int?, free: Int?) {
        self.database = database
        self.free = free
    }
}

/// The files of an endings journal.
package enum JournalFiles {
    /// Returns the paths of the former files of a journal, `PATH.NUMBER`, in no particular order.
    package static func former(of path: String) -> [String] {
        let url = URL(fileURLWithPath: path)
        let folder = url.deletingLastPathComponent().path
        let prefix = url.lastPathComponent + "."
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { name in
            let number = name.dropFirst(prefix.count)
            return name.hasPrefix(prefix) && !number.isEmpty && number.allSatisfy { $0.isASCII && $0.isNumber }
        }.map { folder + "/" + $0 }
    }

    /// Returns the paths of all files of a journal.
    package static func all(of path: String) -> [String] { [path] + former(of: path) }
}
