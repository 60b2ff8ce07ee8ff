#if !os(Windows)
    import CounterfoilPlatform

    /// A file with an exclusive lock (`flock`), which only one task of one process can hold at a time.
    ///
    /// The system releases the lock when the process that holds it ends.
    ///
    /// The store never deletes the file. If it did, one task could hold the lock of the deleted file while another
    /// task holds the lock of a new file at the same path. The first line of the file is the process ID of the last
    /// holder, which the error message shows when a wait times out. The second line is the failure of the last refresh,
    /// if it failed.
    struct LockFile: Sendable {
        let file: PrivateFile

        init(path: String) { file = PrivateFile(path: path) }

        /// Waits until no other task or process holds the lock, and acquires it.
        func hold(_ wait: PollingWait) async throws(TokenStoreError) -> HeldLock {
            try file.makeDirectory()
            let descriptor = try await wait.value {
                .busy(location: file.path, holder: holder)
            } _: { () throws(TokenStoreError) -> Int32? in
                try attempt()
            }
            return HeldLock(descriptor: descriptor)
        }

        /// Tries to lock the file; returns nil if another task or process holds the lock.
        private func attempt() throws(TokenStoreError) -> Int32? {
            let descriptor = try file.openForLocking()
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                let reason = errno
                close(descriptor)
                guard reason == EWOULDBLOCK || reason == EINTR else { throw file.failure(reason) }
                return nil
            }
            // The user or another program may have deleted the file after it was opened and before it was locked.
            guard file.isStill(descriptor) else {
                close(descriptor)
                return nil
            }
            HeldLock.write(secondLine, to: descriptor)
            return descriptor
        }

        private var holder: Int32? {
            contents.split(separator: newline).first.flatMap { Int32(String(decoding: $0, as: UTF8.self)) }
        }

        /// The second line, which the last holder left; empty if it left none.
        var secondLine: [UInt8] {
            let lines = contents.split(separator: newline)
            return lines.count > 1 ? Array(lines[1]) : []
        }

        private var contents: [UInt8] { (try? file.read()).flatMap { $0 } ?? [] }
    }

    private let newline = UInt8(ascii: "\n")

    /// A lock on a file, held for the lifetime of this value.
    struct HeldLock: ~Copyable, Sendable {
        private let descriptor: Int32

        fileprivate init(descriptor: Int32) { self.descriptor = descriptor }

        /// Releases the lock now: the call consumes this value, and `deinit` closes the file.
        consuming func release() {}

        /// Converts the lock to a ``TokenStoreLock``, which then releases it, and leaves failures in the file.
        consuming func storeLock() -> TokenStoreLock {
            let descriptor = descriptor
            discard self
            return TokenStoreLock { failure in
                let bytes = failure.flatMap { try? JSONEncoder().encode($0) }
                Self.write(bytes.map { Array($0) } ?? [], to: descriptor)
            } releasingWith: {
                close(descriptor)
            }
        }

        /// Writes the process ID of this process and a second line.
        ///
        /// A full disk is no error, because the lock works without them.
        fileprivate static func write(_ secondLine: [UInt8], to descriptor: Int32) {
            let bytes = Array("\(getpid())\n".utf8) + secondLine + (secondLine.isEmpty ? [] : [newline])
            let written = pwrite(descriptor, bytes, bytes.count, 0)
            _ = ftruncate(descriptor, off_t(max(written, 0)))
        }

        deinit { close(descriptor) }
    }
#endif
