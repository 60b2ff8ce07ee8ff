import CounterfoilProtocol
import CounterfoilStore
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
    /// The end of the journal, if the file still has this size.
    private var known: (size: off_t, end: JournalEnd?)?
    /// Whether the first line of the open file was checked.
    private var isChecked = false

    /// The outcome of an attempt to append.
    enum Outcome: Sendable, Hashable {
        /// The journal has every ending that was given, and this end.
        case complete(JournalEnd)
        /// The journal has another end, and nothing was written.
        case endsElsewhere(JournalEnd?)
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
    ///   - end: The end of the journal that `endings` continue, which the store has; nil if the journal has no line.
    ///   - position: The sequence of the store.
    ///   - now: The time in microseconds since 1970.
    ///   - marks: Whether to append a mark, too.
    func append(
        _ endings: [Ending], after number: Int64, continuing end: JournalEnd?, of position: EndingsPosition,
        at now: Int64, marking marks: Bool
    ) throws(JournalFailure) -> Outcome {
        try lock()
        defer { flock(descriptor, LOCK_UN) }
        let found = try self.end()?.relevant(to: position)
        var missing = endings[...]
        if !Self.isSame(found, end) {
            // Another process, or another task of this one, has written some of them meanwhile.
            guard let last = found?.ending, found?.identity == position.identity,
                let index = endings.firstIndex(where: { $0.isSame(as: last) })
            else { return .endsElsewhere(found) }
            missing = endings[(index + 1)...]
        }
        let continued = found.flatMap { $0.identity == position.identity ? $0 : nil }
        let reached = JournalEnd(
            identity: position.identity, number: missing.last?.number ?? continued?.number ?? number,
            ending: missing.last ?? continued?.ending)
        var lines: [JournalLine] =
            continued == nil ? [.mark(JournalLine.Mark(.begins, of: position, through: number, at: now))] : []
        lines += missing.map { .ending($0, identity: position.identity) }
        if marks { lines.append(.mark(JournalLine.Mark(.current, of: position, through: reached.number, at: now))) }
        try write(lines, reaching: reached, of: position, at: now)
        return .complete(reached)
    }

    /// Appends the endings of a store that lacks the end of the journal, which the journal keeps.
    ///
    /// The numbers of `endings` are in the journal already, for what the store lacks.
    ///
    /// - Parameters:
    ///   - endings: All endings of the store after `number`, in their order.
    ///   - number: The number after which `endings` begin.
    ///   - common: The last ending that the journal and the store have; nil if there is none.
    ///   - lost: The end of the journal that the store lacks.
    ///   - position: The sequence of the store.
    ///   - now: The time in microseconds since 1970.
    func turn(
        to endings: [Ending], after number: Int64, continuing common: Ending?, from lost: JournalEnd,
        of position: EndingsPosition, at now: Int64
    ) throws(JournalFailure) -> Outcome {
        try lock()
        defer { flock(descriptor, LOCK_UN) }
        let found = try end()
        guard let found, found.isSame(as: lost) else { return .endsElsewhere(found) }
        let reached = JournalEnd(
            identity: position.identity, number: endings.last?.number ?? number, ending: endings.last ?? common)
        // Each run of endings begins with the one that it continues.
        let start: JournalLine =
            common.map { .ending($0, identity: position.identity) }
            ?? .mark(JournalLine.Mark(.begins, of: position, through: number, at: now))
        var lines = [start] + endings.map { .ending($0, identity: position.identity) }
        if let last = endings.last {
            // A restore leaves out the lost endings for a copy that has this one.
            let mark = JournalLine.Mark(.current, of: position, through: last.number, at: now, isSettled: true)
            lines.append(.mark(mark))
        }
        try write(lines, reaching: reached, of: position, at: now)
        return .complete(reached)
    }

    private static func isSame(_ one: JournalEnd?, _ other: JournalEnd?) -> Bool {
        guard let one, let other else { return one == nil && other == nil }
        return one.isSame(as: other)
    }

    /// Locks the file that has the path now, and creates it if it is missing.
    private func lock() throws(JournalFailure) {
        while true {
            if descriptor < 0 {
                descriptor = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0o600)
                (known, isChecked) = (nil, false)
                guard descriptor >= 0 else { throw .system("open", path) }
                var status = stat()
                guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
                    _ = Foundation.close(descriptor)
                    descriptor = -1
                    throw .failed(path: path, reason: "it is not a regular file")
                }
            }
            try takeLock()
            var (own, named) = (stat(), stat())
            if fstat(descriptor, &own) == 0, lstat(path, &named) == 0, own.st_ino == named.st_ino,
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
            guard errno == EINTR || errno == EWOULDBLOCK else { throw .system("lock", path) }
            guard .now < limit else { throw .failed(path: path, reason: "another process holds its lock") }
            usleep(2_000)
        }
    }

    /// Reads the end of the journal; nil if it has no line.
    ///
    /// A file that is no journal, such as one that was named by mistake, is left as it is.
    private func end() throws(JournalFailure) -> JournalEnd? {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .system("read", path) }
        if let known, known.size == status.st_size { return known.end }
        let (last, size) = try JournalEnd.read(descriptor, size: status.st_size, path: path)
        if last != nil, !isChecked {
            isChecked = try JournalEnd.isFirstLineValid(of: descriptor, path: path)
            guard isChecked else { throw .notAJournal(path: path) }
        }
        if size < status.st_size {
            // No process has confirmed this line: the one that began it was killed, or its disk was full.
            guard ftruncate(descriptor, size) == 0 else { throw .system("repair", path) }
        }
        // A process that renamed a full file can have been killed before it began the next one.
        var end = last
        if end == nil { end = try JournalEnd.readFormer(ofJournalAt: path) }
        known = (size, end)
        return end
    }

    /// Writes lines at the end and syncs the file; if it fails, the file is as it was before.
    private func write(
        _ lines: [JournalLine], reaching reached: JournalEnd, of position: EndingsPosition, at now: Int64
    ) throws(JournalFailure) {
        guard !lines.isEmpty, var size = known?.size else { return }
        if size >= sizeLimit, known?.end?.identity == position.identity {
            try rotate()
            size = 0
        }
        var lines = lines
        if size == 0, let end = known?.end, end.identity == position.identity {
            // The last ending of the former file leads from one file to the next.
            let begin = JournalLine.mark(JournalLine.Mark(.begins, of: position, through: end.number, at: now))
            lines = [begin] + (end.ending.map { [.ending($0, identity: end.identity)] } ?? []) + lines
        }
        let bytes: Data
        do { bytes = try lines.reduce(into: Data()) { try $0.append($1.encoded) } } catch {
            throw .failed(path: path, reason: "\(type(of: error))")
        }
        known = nil
        let written = bytes.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
        guard written == bytes.count, fsync(descriptor) == 0 else {
            // A write that ends early sets no error: the disk was full before its end.
            let isCut = (0..<bytes.count).contains(written)
            let failure =
                isCut
                ? JournalFailure.failed(path: path, reason: "cannot write all of it; check that the disk is not full")
                : .system("write", path)
            _ = ftruncate(descriptor, size)
            throw failure
        }
        if size == 0 { try syncDirectory() }
        known = (size + off_t(bytes.count), reached)
    }

    /// Gives a full file a number as its name, and begins a new one.
    ///
    /// The number is that of its last ending, or greater than that of every other file: the names are in the order of
    /// the files, also after the database has used numbers again.
    private func rotate() throws(JournalFailure) {
        let former = try Self.former(ofJournalAt: path).last
        let next = (former.flatMap(JournalFiles.number(ofFormerFileAt:)) ?? 0).addingReportingOverflow(1)
        guard !next.overflow else {
            throw .failed(path: former ?? path, reason: "no number comes after that in its name; rename it")
        }
        let number = max(known?.end?.number ?? 0, next.partialValue)
        guard rename(path, "\(path).\(number)") == 0 else { throw .system("rename", path) }
        flock(descriptor, LOCK_UN)
        _ = Foundation.close(descriptor)
        descriptor = -1
        try lock()
        _ = try self.end()
    }

    /// Opens a file for reading, and follows no link; returns nil if it is missing.
    static func openExisting(_ path: String) throws(JournalFailure) -> (descriptor: CInt, size: off_t)? {
        // The opening of a pipe would wait for a writer.
        let descriptor = Foundation.open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw .system("open", path)
        }
        var status = stat()
        let failure: JournalFailure? =
            if fstat(descriptor, &status) != 0 {
                .system("read", path)
            } else if status.st_mode & S_IFMT != S_IFREG {
                .failed(path: path, reason: "it is not a regular file")
            } else { nil }
        guard let failure else { return (descriptor, status.st_size) }
        _ = Foundation.close(descriptor)
        throw failure
    }

    /// Reads a whole file, and follows no link; returns nil if it is missing.
    static func bytes(ofFileAt path: String) throws(JournalFailure) -> Data? {
        guard let (descriptor, _) = try openExisting(path) else { return nil }
        do { return try FileHandle(fileDescriptor: descriptor, closeOnDealloc: true).readToEnd() ?? Data() } catch {
            throw .failed(path: path, reason: error.localizedDescription)
        }
    }

    /// Returns the paths of the former files of a journal, the oldest first.
    static func former(ofJournalAt path: String) throws(JournalFailure) -> [String] {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return [] }
            throw .system("read", folder)
        }
        _ = Foundation.close(descriptor)
        do { return try JournalFiles.former(of: path) } catch {
            throw .failed(path: folder, reason: error.localizedDescription)
        }
    }

    private func syncDirectory() throws(JournalFailure) {
        let directory = open(URL(fileURLWithPath: path).deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
        guard directory >= 0 else { throw .system("sync", path) }
        defer { _ = Foundation.close(directory) }
        guard fsync(directory) == 0 else { throw .system("sync", path) }
    }
}
