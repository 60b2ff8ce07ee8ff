import Foundation

/// The lines of a file, which is read in parts.
struct LineReader {
    /// The maximum length of a line in bytes.
    static let limit = 32 * 1024

    /// A line without its end.
    enum Line {
        case bytes([UInt8])
        /// The line is longer than ``LineReader/limit``.
        case tooLong
    }

    private let file: FileHandle
    private let path: String
    private var part: [UInt8] = []
    private var position = 0

    /// Opens a file; `-` is standard input.
    init(at path: String) throws(CommandFailure) {
        guard let file = path == "-" ? FileHandle.standardInput : FileHandle(forReadingAtPath: path) else {
            throw .refused("cannot read the file \(path); check its name and permissions")
        }
        self.file = file
        self.path = path
    }

    /// Reads the next line; nil at the end of the file.
    mutating func next() throws(CommandFailure) -> Line? {
        var line: [UInt8] = []
        var (isTooLong, isEmpty) = (false, true)
        while try fill() {
            isEmpty = false
            let rest = part[position...]
            let end = rest.firstIndex(of: UInt8(ascii: "\n"))
            let found = rest[..<(end ?? rest.endIndex)]
            isTooLong = isTooLong || line.count + found.count > Self.limit
            if !isTooLong { line += found }
            position = end.map { $0 + 1 } ?? part.count
            if end != nil { break }
        }
        return isEmpty ? nil : isTooLong ? .tooLong : .bytes(line)
    }

    /// Reads the next part of the file if the last one has no more bytes; returns false at the end of the file.
    private mutating func fill() throws(CommandFailure) -> Bool {
        guard position == part.count else { return true }
        do { part = Array(try file.read(upToCount: 64 * 1024) ?? Data()) } catch {
            throw .refused("cannot read the file \(path); check that it is not a directory")
        }
        position = 0
        return !part.isEmpty
    }
}
