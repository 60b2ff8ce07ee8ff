import CounterfoilProtocol
import Crypto
import Foundation

/// The record at the end of a copy, which says what the copy contains.
///
/// A copy is an SQLite database, followed by this record as JSON, the length of the record in 8 bytes, and the SHA-256
/// digest of everything before it. The JSON ends with ``magic``, so that a file without a record is recognized.
package struct CopyRecord: Sendable, Hashable, Codable {
    /// The version of the format.
    package let format: Int
    /// The version of the schema of the database.
    package let schema: Int
    /// The version of the program that made the copy.
    package let program: String
    /// The issuer of the server; nil if none had run on the store.
    package let issuer: String?
    /// The identity of the sequence of endings (``EndingsPosition``), by which a journal is recognized.
    package let endings: String
    /// The number of the last ending that the copy knows.
    package let ending: Int64
    /// Whether the endings journal of the server had a mark with the time of the copy.
    package let isInJournal: Bool
    /// The time of the copy, in microseconds since 1970.
    package let takenAt: Int64
    /// The length of the database in bytes.
    package let length: Int64
    /// The number of rows of each table.
    package let rows: [String: Int]

    /// The version of the format that this version writes and reads.
    package static let currentFormat = 1
    /// The bytes between the record and the database, by which a copy is recognized.
    static let magic = Array("\nCounterfoil copy\n".utf8)
    /// The length of the digest and of the length of the record.
    private static let footer = 40
    /// The longest record that is read, in bytes.
    private static let limit = 1 << 20

    /// The length of the whole copy in bytes, for a record of a number of bytes.
    ///
    /// The lengths in a file can be any number; the result is nil if it is none of a file.
    private static func total(_ length: Int64, record: Int) -> Int64? {
        let (total, isTooLong) = length.addingReportingOverflow(Int64(magic.count + record + footer))
        return length < 0 || isTooLong ? nil : total
    }

    /// Appends the record and the digest to the file with the database, which is then a complete copy.
    ///
    /// - Parameters:
    ///   - descriptor: The file.
    ///   - end: The end of the database; nil if the record has it.
    ///   - pace: The pace of reading the database; nil to read it as fast as possible.
    func append(to descriptor: CInt, after end: Int64? = nil, at pace: CopyPace? = nil) throws {
        let length = end ?? length
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let record = try encoder.encode(self)
        var tail = Data(Self.magic) + record
        withUnsafeBytes(of: UInt64(record.count).bigEndian) { tail.append(contentsOf: $0) }
        var hash = try Self.hash(descriptor, length: length, at: pace)
        hash.update(data: tail)
        tail.append(contentsOf: hash.finalize())
        try tail.withUnsafeBytes { bytes in
            var written = 0
            while written < bytes.count {
                let count = pwrite(
                    descriptor, bytes.baseAddress?.advanced(by: written), bytes.count - written,
                    off_t(length) + off_t(written)
                )
                guard count > 0 || (count < 0 && errno == EINTR) else { throw CopyFailure.system(errno) }
                written += max(count, 0)
            }
        }
    }

}

// MARK: - Reading

extension CopyRecord {
    /// Reads the record of a copy, and checks that the copy is complete and unchanged.
    package init(ofCopyOn descriptor: CInt) throws(CopyRefusal) {
        let (size, json) = try Self.record(on: descriptor)
        let hash: SHA256
        do { hash = try Self.hash(descriptor, length: size - 32) } catch {
            throw .unreadable("\(error)")
        }
        let digest = try Self.bytes(of: descriptor, from: size - 32, count: 32)
        guard Array(hash.finalize()) == digest else { throw .changed }
        try self.init(json, ofCopyWith: size)
    }

    /// Reads the record of a copy whose content may be damaged.
    package init(unverifiedOn descriptor: CInt) throws(CopyRefusal) {
        let (size, json) = try Self.record(on: descriptor)
        try self.init(json, ofCopyWith: size)
    }

    private init(_ json: Data, ofCopyWith size: Int64) throws(CopyRefusal) {
        // From here on, the file is as a program of this product has written it.
        guard let version = try? JSONDecoder().decode(Version.self, from: json) else { throw .changed }
        guard version.format <= Self.currentFormat else { throw .newerFormat(version.format, program: version.program) }
        guard let record = try? JSONDecoder().decode(Self.self, from: json),
            Self.total(record.length, record: json.count) == size
        else { throw .changed }
        self = record
    }

    /// Checks that a file has the record of a copy at its end; its content may be damaged.
    package static func check(fileOn descriptor: CInt) throws(CopyRefusal) { _ = try record(on: descriptor) }

    /// Reads the size of a file and the JSON of its record.
    private static func record(on descriptor: CInt) throws(CopyRefusal) -> (size: Int64, record: Data) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .unreadable(String(cString: strerror(errno))) }
        guard status.st_mode & S_IFMT != S_IFDIR else { throw .directory }
        let size = Int64(status.st_size)
        guard size > 0 else { throw .empty }
        let start = try bytes(of: descriptor, from: 0, count: Int(min(100, size)))
        guard start.starts(with: "SQLite format 3\0".utf8) else { throw .notACopy }
        guard let least = total(100, record: 0), size > least else { throw .incomplete }
        let end = try bytes(of: descriptor, from: size - Int64(footer), count: footer)
        let length = end.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard length <= limit, let least = total(100, record: Int(length)), least < size else {
            throw try refusal(of: descriptor, size: size, start: start)
        }
        let place = size - Int64(footer) - Int64(length)
        let text = try bytes(of: descriptor, from: place - Int64(magic.count), count: magic.count + Int(length))
        guard text.starts(with: magic) else { throw try refusal(of: descriptor, size: size, start: start) }
        guard applicationID(in: start) != SQLiteStore.unreleasedApplicationID else { throw .unreleasedVersion }
        return (size, Data(text.dropFirst(magic.count)))
    }

    /// The part of the record that every format has.
    private struct Version: Decodable {
        let format: Int
        let program: String
    }

    /// Returns the reason why a file with an SQLite database has no record at its end.
    private static func refusal(of descriptor: CInt, size: Int64, start: [UInt8]) throws(CopyRefusal) -> CopyRefusal {
        switch applicationID(in: start) {
        case SQLiteStore.applicationID: break
        case SQLiteStore.unreleasedApplicationID: return .unreleasedVersion
        default: return .otherProgram
        }
        let page = number(in: start, at: 16, bytes: 2)
        let length = (page == 1 ? 65536 : page) * number(in: start, at: 28, bytes: 4)
        return size == length ? .plainDatabase : .incomplete
    }

    private static func applicationID(in start: [UInt8]) -> Int64 { number(in: start, at: 68, bytes: 4) }

    /// Reads a number in the header of a database (SQLite database file format, §1.3).
    private static func number(in start: [UInt8], at offset: Int, bytes: Int) -> Int64 {
        start[offset..<(offset + bytes)].reduce(0) { $0 << 8 | Int64($1) }
    }

    private static func bytes(of descriptor: CInt, from offset: Int64, count: Int) throws(CopyRefusal) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        guard pread(descriptor, &bytes, count, off_t(offset)) == count else {
            throw .unreadable(String(cString: strerror(errno)))
        }
        return bytes
    }

    /// Computes the digest of the first bytes of a file.
    private static func hash(_ descriptor: CInt, length: Int64, at pace: CopyPace? = nil) throws -> SHA256 {
        var hash = SHA256()
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        var offset = Int64(0)
        while offset < length {
            let count = pread(descriptor, &buffer, min(buffer.count, Int(length - offset)), off_t(offset))
            guard count > 0 else {
                if count < 0, errno == EINTR { continue }
                throw CopyFailure.system(count == 0 ? EIO : errno)
            }
            buffer.withUnsafeBytes { hash.update(bufferPointer: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
            offset += Int64(count)
            pace?.step()
        }
        return hash
    }
}

/// An error of the system while a copy is written.
package enum CopyFailure: Error, Sendable, Hashable, CustomStringConvertible {
    case system(CInt)

    package var description: String {
        switch self {
        case .system(let code): String(cString: strerror(code))
        }
    }
}

/// An error because of which a file is not accepted as a copy.
package enum CopyRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    case unreadable(String)
    case directory
    case empty
    /// The file does not begin as a database.
    case notACopy
    /// A database of another program.
    case otherProgram
    /// A database from before version 1 of the schema.
    case unreleasedVersion
    /// A database of this product, without a record.
    case plainDatabase
    /// The end is missing.
    case incomplete
    /// The digest does not match.
    case changed
    case newerFormat(Int, program: String)
    case newerSchema(Int, supported: Int, program: String)
    /// The content of the database is not what the record says.
    case damaged(String)
    /// The database has other tables, indexes, views or triggers than its version; their names, in order.
    case otherSchema([String])

    package var description: String {
        switch self {
        case .unreadable(let reason): "it cannot be read (\(reason))"
        case .directory: "it is a directory"
        case .empty: "it is empty"
        case .notACopy:
            "it is not a copy that \"backup\" has made; decrypt or unpack it first, if it is encrypted or packed"
        case .otherProgram: "it is a database of another program"
        case .unreleasedVersion:
            "a version of Counterfoil from before the first release has made it, which no version can restore"
        case .plainDatabase:
            "it is a database without the record of a copy; put it into an empty data directory as counterfoil.db with "
                + "its server.key, and run after-restore"
        case .incomplete: "it is not complete: its end is missing"
        case .changed: "it is damaged: its SHA-256 digest does not match"
        case .newerFormat(let format, let program):
            "a newer version of this program has made it (format \(format)); use version \(program) or a later one"
        case .newerSchema(let schema, let supported, let program):
            "a newer version of this program has made it (schema version \(schema); this version supports "
                + "\(supported)); use version \(program) or a later one"
        case .damaged(let reason): "it is damaged (\(reason))"
        case .otherSchema(let names):
            "its tables or triggers are not those of its version: \(Self.list(names))"
        }
    }

    /// The first of some names.
    ///
    /// A copy by someone else can have any name, so characters that the product does not use in names are replaced.
    private static func list(_ names: [String]) -> String {
        let shown = names.prefix(5).map { name in
            String(
                name.unicodeScalars.prefix(64).map { scalar in
                    scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
                        || scalar == "_" ? Character(scalar) : "?"
                })
        }
        return (shown + (names.count > shown.count ? ["…"] : [])).joined(separator: ", ")
    }
}
