import Foundation

/// A file that gets its name only when it is complete, so that a crash leaves no half file under that name.
///
/// One process at a time writes it. What an interrupted process has left is overwritten by the next one.
package struct DraftFile: Sendable {
    /// The path until the file is complete.
    package let path: String
    /// The file, open for reading and writing, with a lock.
    package let descriptor: CInt

    /// An error because of which a draft cannot be used.
    package enum Failure: Error, Sendable, CustomStringConvertible {
        /// Another process is writing it.
        case isInUse(path: String)
        case system(path: String, CInt)

        package var description: String {
            switch self {
            case .isInUse(let path): "another process is writing \(path)"
            case .system(let path, let code): "cannot write \(path): \(String(cString: strerror(code)))"
            }
        }
    }

    /// Creates an empty file that is accessible to its owner only, or empties the one that is left.
    ///
    /// Anything else that has the path loses it and is not changed: a link, a file of another user, or a file that has
    /// another name, too, such as a complete one whose process was killed before it removed this name.
    package init(at path: String) throws(Failure) {
        self.path = path
        if let left = try Self.openLeft(path) {
            descriptor = left
        } else {
            descriptor = try Self.openNew(path)
        }
        guard ftruncate(descriptor, 0) == 0, fchmod(descriptor, 0o600) == 0 else {
            throw Self.failure(errno, path, closing: descriptor)
        }
        removeCompanions()
    }

    /// Returns when the file is on the disk under the path of the draft, so that a crash of the machine leaves it.
    package func keep() throws(Failure) { try Self.syncDirectory(of: path) }

    /// Empties the file, which keeps the path of the draft.
    package func empty() {
        ftruncate(descriptor, 0)
        removeCompanions()
    }

    /// Opens and locks the file that is left, or a new one; returns nil if what had the path has lost it.
    private static func openLeft(_ path: String) throws(Failure) -> CInt? {
        // Without O_NONBLOCK, a FIFO would wait for another program.
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else {
            let reason = errno
            // It is the cause that counts, not that nothing could be removed.
            guard [ELOOP, EACCES, ENXIO].contains(reason), unlink(path) == 0 else {
                throw .system(path: path, reason)
            }
            return nil
        }
        var own = stat()
        guard fstat(descriptor, &own) == 0 else { throw failure(errno, path, closing: descriptor) }
        guard own.st_mode & S_IFMT == S_IFREG, own.st_uid == geteuid() else {
            guard unlink(path) == 0 else { throw failure(errno, path, closing: descriptor) }
            _ = Foundation.close(descriptor)
            return nil
        }
        try lock(descriptor, path)
        guard fstat(descriptor, &own) == 0, own.st_nlink <= 1 else {
            guard unlink(path) == 0 else { throw failure(errno, path, closing: descriptor) }
            _ = Foundation.close(descriptor)
            return nil
        }
        return descriptor
    }

    /// Creates and locks a file at a path that has none.
    private static func openNew(_ path: String) throws(Failure) -> CInt {
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw errno == EEXIST ? .isInUse(path: path) : .system(path: path, errno) }
        try lock(descriptor, path)
        return descriptor
    }

    private static func lock(_ descriptor: CInt, _ path: String) throws(Failure) {
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw failure(errno, path, closing: descriptor) }
        var (own, named) = (stat(), stat())
        // Another process may have finished or removed the file since it was opened.
        guard fstat(descriptor, &own) == 0, lstat(path, &named) == 0, own.st_ino == named.st_ino,
            own.st_dev == named.st_dev
        else { throw failure(EWOULDBLOCK, path, closing: descriptor) }
    }

    private static func failure(_ code: CInt, _ path: String, closing descriptor: CInt) -> Failure {
        _ = Foundation.close(descriptor)
        return code == EWOULDBLOCK ? .isInUse(path: path) : .system(path: path, code)
    }

    /// Gives the complete file its name, and returns when both are on the disk.
    ///
    /// - Parameter replaces: Whether a file with that name is replaced; if false, it is an error.
    package func finish(as name: String, replacing replaces: Bool) throws(Failure) {
        guard fsync(descriptor) == 0 else { throw .system(path: path, errno) }
        removeCompanions()
        if replaces {
            guard rename(path, name) == 0 else { throw .system(path: name, errno) }
        } else {
            // Unlike `rename`, `link` never replaces a file that appeared meanwhile.
            if link(path, name) == 0 {
                unlink(path)
            } else {
                // Some file systems have no links.
                guard [EPERM, ENOTSUP, EOPNOTSUPP].contains(errno), rename(path, name) == 0 else {
                    throw .system(path: name, errno)
                }
            }
        }
        try Self.syncDirectory(of: name)
    }

    /// The end of the name of a draft that replaces a file (``replace(_:with:)``).
    package static let suffix = ".new"

    /// Replaces a file, or creates it, accessible to its owner only.
    ///
    /// A process that is killed leaves a draft, which the next one overwrites.
    package static func replace(_ name: String, with bytes: [UInt8]) throws {
        let draft = try DraftFile(at: name + suffix)
        defer { draft.close() }
        do {
            try FileHandle(fileDescriptor: draft.descriptor, closeOnDealloc: false).write(contentsOf: Data(bytes))
            try draft.finish(as: name, replacing: true)
        } catch {
            draft.discard()
            throw error
        }
    }

    /// Returns when the name of a file is on the disk.
    package static func syncDirectory(of path: String) throws(Failure) {
        let directory = open(URL(fileURLWithPath: path).deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
        guard directory >= 0 else { throw .system(path: path, errno) }
        defer { _ = Foundation.close(directory) }
        guard fsync(directory) == 0 else { throw .system(path: path, errno) }
    }

    /// Deletes the file, unless it has got its name.
    package func discard() {
        unlink(path)
        removeCompanions()
    }

    /// Gives up the lock.
    package func close() { _ = Foundation.close(descriptor) }

    /// Removes the files that SQLite keeps beside a database.
    private func removeCompanions() {
        for suffix in ["-journal", "-wal", "-shm"] { unlink(path + suffix) }
    }
}
