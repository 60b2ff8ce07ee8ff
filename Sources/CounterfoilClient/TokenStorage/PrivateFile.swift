#if !os(Windows)
    import CounterfoilPlatform

    /// A regular file of mode 0600 that is owned by the effective user of this process.
    ///
    /// Mode, owner and type are checked on the opened file descriptor. A check by path would not be safe, because
    /// another program could replace the file between the check and the opening.
    package struct PrivateFile: Sendable {
        package let path: String

        package init(path: String) { self.path = path }

        /// The maximum length of the file, in bytes.
        static let byteLimit = 4 * 1024 * 1024

        private var directory: String {
            let parent = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
            return parent.isEmpty ? (path.hasPrefix("/") ? "/" : ".") : parent
        }

        /// Reads the file; returns nil if it does not exist.
        package func read() throws(TokenStoreError) -> [UInt8]? {
            let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
            guard descriptor >= 0 else {
                if errno == ENOENT { return nil }
                if errno == ELOOP {
                    throw .notPrivate(path: path, reason: "is a symbolic link; replace it with a file")
                }
                throw accessFailure()
            }
            defer { close(descriptor) }
            try check(descriptor)
            let bytes: [UInt8]
            do { bytes = try systemReadAll(descriptor, limit: Self.byteLimit + 1) } catch { throw failure(error.code) }
            guard bytes.count <= Self.byteLimit else { throw .failed(path: path, reason: "it is too large") }
            return bytes
        }

        /// Replaces the whole file atomically.
        ///
        /// The new file is durable when the function returns, unless the file system cannot synchronize folders. If the
        /// function throws, the file is the old one, or after a failure to synchronize the folder the new one.
        ///
        /// The caller must hold a lock, because all writers use the same temporary file. The function first deletes
        /// a temporary file that a killed process left behind.
        ///
        /// The function needs no free space if `room` is a file that ``reserve(_:)`` has created in the same folder. It
        /// deletes that file.
        package func replace(with bytes: [UInt8], inRoomOf room: PrivateFile? = nil) throws(TokenStoreError) {
            try writeTemporaryFile(bytes, inRoomOf: room)
            guard rename(temporaryPath, path) == 0 else {
                let error = failure()
                unlink(temporaryPath)
                throw error
            }
            try makeDirectoryDurable()
        }

        /// Verifies that the folder has room for another file of a size, and deletes that file again.
        ///
        /// The caller must hold the lock that ``replace(with:)`` needs.
        func checkRoom(for byteCount: Int) throws(TokenStoreError) {
            try writeTemporaryFile([UInt8](repeating: 0, count: byteCount))
            unlink(temporaryPath)
        }

        /// Makes this file one of at least this size, whose space another file can take later.
        ///
        /// A file system that never overwrites data in place may need free space nevertheless.
        func reserve(_ byteCount: Int) throws(TokenStoreError) {
            var facts = stat()
            guard lstat(path, &facts) != 0 || facts.st_size < byteCount else { return }
            // Zeros that are written take space, unlike a file that is only extended.
            try replace(with: [UInt8](repeating: 0, count: byteCount))
        }

        private var temporaryPath: String { "\(path).new" }

        /// Writes the temporary file to the disk; leaves none behind if that fails.
        private func writeTemporaryFile(_ bytes: [UInt8], inRoomOf room: PrivateFile? = nil) throws(TokenStoreError) {
            unlink(temporaryPath)
            let isReserved = room.map { rename($0.path, temporaryPath) == 0 } ?? false
            let creation = isReserved ? 0 : O_CREAT | O_EXCL
            let descriptor = open(temporaryPath, O_WRONLY | creation | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard descriptor >= 0 else { throw failure() }
            do throws(TokenStoreError) {
                defer { close(descriptor) }
                if isReserved { try check(descriptor) }
                guard fchmod(descriptor, 0o600) == 0 else { throw failure() }
                try write(bytes, to: descriptor)
                guard !isReserved || ftruncate(descriptor, off_t(bytes.count)) == 0 else { throw failure() }
                guard Self.makeDurable(descriptor) else { throw failure() }
            } catch {
                unlink(temporaryPath)
                throw error
            }
        }

        /// Deletes the file if it exists.
        ///
        /// The deletion is durable when the function returns, as the file of ``replace(with:)`` is.
        package func remove() throws(TokenStoreError) {
            guard unlink(path) == 0 else {
                if errno == ENOENT { return }
                throw failure()
            }
            try makeDirectoryDurable()
        }

        /// Whether there is a file, directory or link at the path.
        var exists: Bool {
            var facts = stat()
            return lstat(path, &facts) == 0
        }

        /// The identity, size and modification time of the file; that of no file if there is none.
        ///
        /// Nil if the system does not tell.
        var stamp: TokenStoreStamp? {
            var facts = stat()
            guard lstat(path, &facts) == 0 else { return errno == ENOENT ? TokenStoreStamp([]) : nil }
            #if canImport(Darwin)
                let time = facts.st_mtimespec
            #else
                let time = facts.st_mtim
            #endif
            return TokenStoreStamp([
                UInt64(truncatingIfNeeded: facts.st_dev), UInt64(truncatingIfNeeded: facts.st_ino),
                UInt64(truncatingIfNeeded: facts.st_size), UInt64(truncatingIfNeeded: time.tv_sec),
                UInt64(truncatingIfNeeded: time.tv_nsec),
            ])
        }

        private func makeDirectoryDurable() throws(TokenStoreError) {
            let parent = open(directory, O_RDONLY | O_CLOEXEC | O_DIRECTORY)
            guard parent >= 0 else { throw failure() }
            defer { close(parent) }
            // Some file systems cannot synchronize folders (fsync(2): EINVAL), such as those of other systems.
            guard fsync(parent) == 0 || errno == EINVAL || errno == ENOTSUP else { throw failure() }
        }

        /// Creates the directory of the file with the mode 0700, if it does not exist.
        ///
        /// Throws if other users can replace files in an existing directory. Its owner must be this user or root. Other
        /// users may write to it only if its sticky bit is set, because then they cannot replace files of this user.
        package func makeDirectory() throws(TokenStoreError) {
            var facts = stat()
            if stat(directory, &facts) != 0 {
                try PrivateFile(path: directory).makeParents()
                guard mkdir(directory, 0o700) == 0 || errno == EEXIST else { throw accessFailure() }
                guard stat(directory, &facts) == 0 else { throw accessFailure() }
            }
            guard facts.st_uid == geteuid() || facts.st_uid == 0 else {
                throw ForeignFile(path: directory, owner: facts.st_uid).error
            }
            let othersWrite = facts.st_mode & (S_IWGRP | S_IWOTH) != 0
            guard !othersWrite || facts.st_mode & S_ISVTX != 0 else {
                throw .notPrivate(path: directory, reason: "is writable by other users; run: chmod go-w \(directory)")
            }
        }

        /// Creates the directory that contains this path, and every missing directory above it.
        private func makeParents() throws(TokenStoreError) {
            var facts = stat()
            guard stat(directory, &facts) != 0, directory != path else { return }
            try PrivateFile(path: directory).makeParents()
            guard mkdir(directory, 0o700) == 0 || errno == EEXIST else { throw accessFailure() }
        }

        /// Opens the file and creates it if it does not exist.
        func openForLocking() throws(TokenStoreError) -> Int32 {
            let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
            guard descriptor >= 0 else { throw accessFailure() }
            do throws(TokenStoreError) { try check(descriptor) } catch {
                close(descriptor)
                throw error
            }
            return descriptor
        }

        /// Returns whether the path still names the opened file.
        func isStill(_ descriptor: Int32) -> Bool {
            var (opened, named) = (stat(), stat())
            return fstat(descriptor, &opened) == 0 && lstat(path, &named) == 0
                && opened.st_dev == named.st_dev && opened.st_ino == named.st_ino
        }

        /// Writes the contents of a file to the disk itself; returns false if that failed.
        private static func makeDurable(_ descriptor: Int32) -> Bool {
            #if canImport(Darwin)
                // `fsync` leaves the data in the cache of the disk (fsync(2)). Some file systems, such as those of
                // servers, do not support the other call.
                if fcntl(descriptor, F_FULLFSYNC) == 0 { return true }
            #endif
            return fsync(descriptor) == 0
        }

        private func check(_ descriptor: Int32) throws(TokenStoreError) {
            var facts = stat()
            guard fstat(descriptor, &facts) == 0 else { throw failure() }
            guard facts.st_mode & S_IFMT == S_IFREG else {
                throw .notPrivate(path: path, reason: "is not a regular file")
            }
            guard facts.st_uid == geteuid() else { throw ForeignFile(path: path, owner: facts.st_uid).error }
            guard facts.st_mode & (S_IRWXG | S_IRWXO) == 0 else {
                throw .notPrivate(path: path, reason: "is accessible to other users; run: chmod 600 \(path)")
            }
        }

        private func write(_ bytes: [UInt8], to descriptor: Int32) throws(TokenStoreError) {
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { systemWrite(descriptor, $0.baseAddress, $0.count) }
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else { throw failure() }
                rest = rest.dropFirst(count)
            }
        }

        /// Returns the error for the current `errno`; if this user has no access because the file or a folder above it
        /// belongs to another user, the error names that user.
        private func accessFailure() -> TokenStoreError {
            let number = errno
            guard number == EACCES, let foreign = ForeignFile(keepingFrom: path) else { return failure(number) }
            return foreign.error
        }

        /// Returns the error for an `errno` value, by default the current one.
        func failure(_ number: Int32 = errno) -> TokenStoreError {
            .failed(path: path, reason: String(cString: strerror(number)))
        }
    }
#endif
