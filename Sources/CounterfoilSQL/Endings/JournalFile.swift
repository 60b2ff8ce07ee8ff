import CounterfoilProtocol
import Foundation

/// The file of an endings journal, to which several processes append.
///
/// Each process takes a lock on the file, appends with one `write`, and syncs the file before it gives the lock back.
/// A line that a killed process has left without its end was never confirmed to anyone, and is removed.
final class JournalFile {
    /// The size in bytes from which a file gets another name, and a new one is begun.
    static let sizeLimit: Int64 = 16 << 20

    private let path: String
    private let sizeLimit: Int64
    /// The time for which an attempt waits for the lock of another process.
    private let patience: Duration
    private var descriptor: CInt = -1
    /// The last line of the file, if the file still has this size.
    private var known: (size: off_t, end: JournalLine?)?
    /// Whether the first line of the open file was checked.
    private var isChecked = false

    /// The outcome of an attempt to append.
    enum Outcome: Sendable, Hashable {
        /// The file has every ending up to this number.
        case complete(through: Int64)
        /// The file lacks endings that were not given: those after this number.
        case lacks(after: Int64)
    }

    init(path: String, sizeLimit: Int64 = JournalFile.sizeLimit, patience: Duration = .seconds(10)) {
        self.path = path
        self.sizeLimit = sizeLimit
        self.patience = patience
    }

    deinit {
        if descriptor >= 0 { _ = Foundation.close(descriptor) }
    }

    /// Appends the endings that the file does not have yet.
    ///
    /// - Parameters:
    ///   - endings: The endings of the store after `number`, in their order.
    ///   - number: The number after which `endings` begin.
    ///   - begin: The number before the first ending that the store still has.
    ///   - position: The sequence of the store.
    ///   - now: The time in microseconds since 1970.
    ///   - marks: Whether to append a mark, too.
    func append(
        _ endings: [Ending], after number: Int64, storeBeginsAfter begin: Int64, of position: EndingsPosition,
        at now: Int64, marking marks: Bool
    ) throws(JournalFailure) -> Outcome {
        try lock()
        defer { flock(descriptor, LOCK_UN) }
        let end = try self.end()
        var lines: [JournalLine] = []
        let last: Int64
        switch end {
        case nil:
            last = begin
            guard number == begin else { return .lacks(after: begin) }
            lines.append(.mark(JournalLine.Mark(.begins, of: position, through: last, at: now)))
        case let end? where end.identity == position.identity: last = end.number
        case let end? where end.identity == position.former:
            // The first start after a restore continues the journal with which the store was restored.
            last = position.first
            guard end.number <= last else { throw .ofAnotherStore(path: path) }
            lines.append(.mark(JournalLine.Mark(.begins, of: position, through: last, at: now)))
        default: throw .ofAnotherStore(path: path)
        }
        // The store deletes old endings. If the journal was not written for so long, the numbers show the gap.
        guard number <= max(last, begin) else { return .lacks(after: max(last, begin)) }
        let missing = endings.filter { $0.number > last }
        lines += missing.map { .ending($0, identity: position.identity) }
        let through = max(last, endings.last?.number ?? last)
        if marks { lines.append(.mark(JournalLine.Mark(.current, of: position, through: through, at: now))) }
        try write(lines, of: position, at: now)
        return .complete(through: through)
    }

    /// Locks the file that has the path now, and creates it if it is missing.
    private func lock() throws(JournalFailure) {
        while true {
            if descriptor < 0 {
                descriptor = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
                (known, isChecked) = (nil, false)
                guard descriptor >= 0 else { throw failure("open") }
                var status = stat()
                guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
                    _ = Foundation.close(descriptor)
                    descriptor = -1
                    throw .failed(path: path, reason: "it is not a regular file")
                }
            }
            try takeLock()
            var (own, named) = (stat(), stat())
            if fstat(descriptor, &own) == 0, stat(path, &named) == 0, own.st_ino == named.st_ino,
                own.st_dev == named.st_dev
            {
                return
            }
            // Another process, or a log shipper, has renamed the file.
            _ = Foundation.close(descriptor)
            descriptor = -1
        }
    }

    /// Takes the lock of the open file, which a process that hangs may never give back.
    private func takeLock() throws(JournalFailure) {
        let limit = ContinuousClock.now + patience
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EINTR || errno == EWOULDBLOCK else { throw failure("lock") }
            guard .now < limit else { throw .failed(path: path, reason: "another process holds its lock") }
            usleep(2_000)
        }
    }

    /// Reads the last line; nil if the file is empty.
    ///
    /// A file that is no journal, such as one that was named by mistake, is left as it is.
    private func end() throws(JournalFailure) -> JournalLine? {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure("read") }
        if let known, known.size == status.st_size { return known.end }
        let (end, size) = try Self.end(of: descriptor, size: status.st_size, path: path)
        if end != nil, !isChecked {
            isChecked = try Self.isFirstLineValid(of: descriptor, path: path)
            guard isChecked else { throw .notAJournal(path: path) }
        }
        if size < status.st_size {
            // No process has confirmed this line: the one that began it was killed, or its disk was full.
            guard ftruncate(descriptor, size) == 0 else { throw failure("repair") }
        }
        known = (size, end)
        return end
    }

    /// Reads the last complete line of an open file, and returns it with the size of the file up to its end.
    private static func end(
        of descriptor: CInt, size: off_t, path: String
    ) throws(JournalFailure) -> (line: JournalLine?, size: off_t) {
        let length = min(off_t(2 * JournalLine.limit), size)
        var bytes = [UInt8](repeating: 0, count: Int(length))
        guard pread(descriptor, &bytes, bytes.count, size - length) == bytes.count else {
            throw failure("read", path)
        }
        let complete = bytes.lastIndex(of: UInt8(ascii: "\n")).map { bytes.prefix(through: $0) } ?? []
        let unfinished = bytes.dropFirst(complete.count)
        let end = size - off_t(unfinished.count)
        if complete.isEmpty {
            guard end == 0, JournalLine.canBegin(unfinished) else { throw .notAJournal(path: path) }
            return (nil, end)
        }
        guard let line = complete.split(separator: UInt8(ascii: "\n")).last.flatMap({ JournalLine(Data($0)) }) else {
            throw .notAJournal(path: path)
        }
        return (line, end)
    }

    /// Reads the last complete line of the file at a path, without a lock; nil if the file is empty.
    static func lastLine(ofFileAt path: String) throws(JournalFailure) -> JournalLine? {
        // The opening of a pipe would wait for a writer.
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("open", path) }
        defer { _ = Foundation.close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure("read", path) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .failed(path: path, reason: "it is not a regular file") }
        let line = try end(of: descriptor, size: status.st_size, path: path).line
        if line != nil, try !isFirstLineValid(of: descriptor, path: path) { throw .notAJournal(path: path) }
        return line
    }

    /// Returns true if the first line of an open file is one of a journal; the file has a line.
    private static func isFirstLineValid(of descriptor: CInt, path: String) throws(JournalFailure) -> Bool {
        var bytes: [UInt8] = []
        for length in [4096, JournalLine.limit + 1] {
            bytes = [UInt8](repeating: 0, count: length)
            let count = pread(descriptor, &bytes, length, 0)
            guard count >= 0 else { throw failure("read", path) }
            bytes.removeLast(length - count)
            guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { continue }
            return JournalLine(Data(bytes[..<end])) != nil
        }
        return false
    }

    /// Writes lines at the end and syncs the file; if it fails, the file is as it was before.
    private func write(_ lines: [JournalLine], of position: EndingsPosition, at now: Int64) throws(JournalFailure) {
        guard let last = lines.last, let known else { return }
        if known.size >= sizeLimit, let end = known.end, end.identity == position.identity {
            try rotate(end)
            try write(
                [.mark(JournalLine.Mark(.begins, of: position, through: end.number, at: now))] + lines, of: position,
                at: now)
            return
        }
        let bytes: Data
        do { bytes = try lines.reduce(into: Data()) { try $0.append($1.encoded) } } catch {
            throw .failed(path: path, reason: "\(type(of: error))")
        }
        self.known = nil
        let written = bytes.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
        guard written == bytes.count, fsync(descriptor) == 0 else {
            // A write that ends early sets no error: the disk was full before its end.
            let isCut = (0..<bytes.count).contains(written)
            let failure =
                isCut
                ? JournalFailure.failed(path: path, reason: "cannot write all of it; check that the disk is not full")
                : failure("write")
            _ = ftruncate(descriptor, known.size)
            throw failure
        }
        if known.size == 0 { try syncDirectory() }
        self.known = (known.size + off_t(bytes.count), last)
    }

    /// Gives a full file the name of its last ending, and begins a new one.
    private func rotate(_ end: JournalLine) throws(JournalFailure) {
        guard rename(path, "\(path).\(end.number)") == 0 else { throw failure("rename") }
        flock(descriptor, LOCK_UN)
        _ = Foundation.close(descriptor)
        descriptor = -1
        try lock()
        _ = try self.end()
    }

    private func syncDirectory() throws(JournalFailure) {
        let directory = open(URL(fileURLWithPath: path).deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
        guard directory >= 0 else { throw failure("sync") }
        defer { _ = Foundation.close(directory) }
        guard fsync(directory) == 0 else { throw failure("sync") }
    }

    private func failure(_ verb: String) -> JournalFailure { Self.failure(verb, path) }

    private static func failure(_ verb: String, _ path: String) -> JournalFailure {
        .failed(path: path, reason: "cannot \(verb) it: \(String(cString: strerror(errno)))")
    }
}

/// An error because of which an endings journal cannot be written.
package enum JournalFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The file cannot be opened, locked, read or written.
    case failed(path: String, reason: String)
    /// The last line is not one of an endings journal.
    case notAJournal(path: String)
    /// The file is the journal of another store, or of this one before it was restored without it.
    case ofAnotherStore(path: String)
    /// The file has endings that its store lacks.
    case aheadOfStore(path: String)
    /// The store cannot be read.
    case store(String)

    package var description: String {
        switch self {
        case .failed(let path, let reason): "the endings journal \(path) cannot be used (\(reason))"
        case .notAJournal(let path):
            "\(path) is not an endings journal, or a newer version has written it; name a new file"
        case .ofAnotherStore(let path):
            "\(path) is the endings journal of another server, or of this one before a restore; restore the database "
                + "of that server, or name a new file"
        case .aheadOfStore(let path):
            "the store is older than its endings journal \(path), so what had ended since is valid in it; stop every "
                + "server, and run after-restore"
        case .store(let reason): reason
        }
    }
}
