import Foundation

/// The files of an endings journal.
package enum JournalFiles {
    /// Returns the paths of the former files of a journal, `PATH.NUMBER`, in no particular order.
    ///
    /// - Throws: The error of Foundation, if the directory cannot be read.
    package static func former(of path: String) throws -> [String] {
        let url = URL(fileURLWithPath: path)
        let folder = url.deletingLastPathComponent().path
        let prefix = url.lastPathComponent + "."
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        return names.filter { name in
            let number = name.dropFirst(prefix.count)
            return name.hasPrefix(prefix) && !number.isEmpty && number.allSatisfy { $0.isASCII && $0.isNumber }
        }.map { folder + "/" + $0 }
    }

    /// Returns the paths of all files of a journal.
    package static func all(of path: String) throws -> [String] { try [path] + former(of: path) }
}
