import Foundation

/// The files of an endings journal.
package enum JournalFiles {
    /// Returns the paths of the former files of a journal, `PATH.NUMBER`, the oldest first.
    ///
    /// - Throws: The error of Foundation, if the directory cannot be read.
    package static func former(of path: String) throws -> [String] {
        let url = URL(fileURLWithPath: path)
        let folder = url.deletingLastPathComponent().path
        let prefix = url.lastPathComponent + "."
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        let numbers = names.filter { $0.hasPrefix(prefix) }.compactMap { name in
            Int64(name.dropFirst(prefix.count)).flatMap { $0 >= 0 && "\(prefix)\($0)" == name ? $0 : nil }
        }
        return numbers.sorted().map { "\(folder)/\(prefix)\($0)" }
    }

    /// Returns the number of a former file by its path.
    package static func number(ofFormerFileAt path: String) -> Int64? {
        path.split(separator: ".").last.flatMap { Int64($0) }
    }

    /// Returns the paths of all files of a journal.
    package static func all(of path: String) throws -> [String] { try [path] + former(of: path) }
}
