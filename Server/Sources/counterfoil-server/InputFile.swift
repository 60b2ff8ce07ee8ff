import Foundation

/// A file that an argument of an administration command names, which can be a pipe.
///
/// ``RegularFile`` is for the files of settings. A file that is larger than the limit is refused, not truncated.
enum InputFile {
    /// Reads a file of at most `limit` bytes.
    static func bytes(at path: String, limit: Int) throws(CommandFailure) -> [UInt8] {
        guard let file = FileHandle(forReadingAtPath: path) else {
            throw CommandFailure.refused("cannot read the file \(path); check its name and permissions")
        }
        defer { try? file.close() }
        return try bytes(of: file, at: path, limit: limit)
    }

    /// Reads an open file of at most `limit` bytes; the path is for errors.
    static func bytes(of file: FileHandle, at path: String, limit: Int) throws(CommandFailure) -> [UInt8] {
        let data: Data
        // `read` returns nil at the end of the file. An empty file is at its end from the start.
        do { data = try file.read(upToCount: limit + 1) ?? Data() } catch {
            throw CommandFailure.refused("cannot read the file \(path); check that it is not a directory")
        }
        guard data.count <= limit else {
            throw CommandFailure.refused("the file \(path) is larger than \(limit) bytes")
        }
        return Array(data)
    }

    /// Reads the text of a JSON Web Key Set.
    ///
    /// An empty file is refused, because it is probably a mistake.
    static func keys(at path: String) throws -> String {
        let text = try text(at: path)
        guard !text.allSatisfy(\.isWhitespace) else {
            throw CommandFailure.refused("--jwks: the file \(path) is empty; it must contain a JSON Web Key Set")
        }
        return text
    }

    /// Reads a UTF-8 text of at most `limit` bytes.
    static func text(at path: String, limit: Int = 64 * 1024) throws(CommandFailure) -> String {
        guard let text = String(validating: try bytes(at: path, limit: limit), as: UTF8.self) else {
            throw CommandFailure.refused("the file \(path) is not UTF-8 text")
        }
        return text
    }
}
