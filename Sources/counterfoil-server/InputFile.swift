import Foundation

/// A file that an argument names, read whole and bounded.
enum InputFile {
    /// The bytes of a file of at most `limit` bytes.
    static func bytes(at path: String, limit: Int) throws(CommandFailure) -> [UInt8] {
        guard let file = FileHandle(forReadingAtPath: path) else {
            throw CommandFailure.refused("the file \(path) cannot be read; check its name and the rights on it")
        }
        defer { try? file.close() }
        let data: Data
        // There is nothing to read in an empty file.
        do { data = try file.read(upToCount: limit + 1) ?? Data() } catch {
            throw CommandFailure.refused("the file \(path) cannot be read; is it a directory?")
        }
        guard data.count <= limit else {
            throw CommandFailure.refused("the file \(path) is larger than \(limit) bytes")
        }
        return Array(data)
    }

    /// A JSON Web Key Set as it is written; nobody means nothing by an empty file.
    static func keys(at path: String) throws -> String {
        let text = try text(at: path)
        guard !text.allSatisfy(\.isWhitespace) else {
            throw CommandFailure.refused("--jwks: the file \(path) is empty")
        }
        return text
    }

    /// A text in UTF-8 of at most `limit` bytes.
    static func text(at path: String, limit: Int = 64 * 1024) throws(CommandFailure) -> String {
        guard let text = String(validating: try bytes(at: path, limit: limit), as: UTF8.self) else {
            throw CommandFailure.refused("the file \(path) is not a text in UTF-8")
        }
        return text
    }
}
