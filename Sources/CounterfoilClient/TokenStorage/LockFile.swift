#if !os(Windows)
    #if canImport(Darwin)
        import Darwin
    #elseif canImport(Musl)
        import Musl
    #else
        import Glibc
    #endif

    /// A file whose lock one process and one task at a time can hold; the system gives it back when its holder is killed.
    ///
    /// It is never deleted, because whoever still waited on the deleted one would hold a lock that nobody else sees. It
    /// holds the number of the process that had it last, to be shown to whoever waits in vain.
    struct LockFile: Sendable {
        let file: PrivateFile

        init(path: String) { file = PrivateFile(path: path) }

        /// Waits for the lock.
        func hold(_ turn: Turn) async throws(TokenStoreError) -> HeldLock {
            try file.makeDirectory()
            let descriptor = try await turn.wait {
                .busy(place: file.path, holder: holder)
            } _: { () throws(TokenStoreError) -> Int32? in
                try attempt()
            }
            return HeldLock(descriptor: descriptor)
        }

        /// The descriptor that holds the lock, or nil when somebody else does.
        private func attempt() throws(TokenStoreError) -> Int32? {
            let descriptor = try file.openForLocking()
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                let reason = errno
                close(descriptor)
                guard reason == EWOULDBLOCK || reason == EINTR else { throw file.failure(reason) }
                return nil
            }
            // Somebody may have deleted the file between its opening and its locking.
            guard file.isStill(descriptor) else {
                close(descriptor)
                return nil
            }
            let mark = Array("\(getpid())\n".utf8)
            if ftruncate(descriptor, 0) == 0 { _ = pwrite(descriptor, mark, mark.count, 0) }
            return descriptor
        }

        private var holder: Int32? {
            (try? file.read()).flatMap { $0 }.flatMap { Int32(String(decoding: $0.dropLast(), as: UTF8.self)) }
        }
    }

    /// A lock on a file, held as long as this value lives.
    struct HeldLock: ~Copyable, Sendable {
        private let descriptor: Int32

        fileprivate init(descriptor: Int32) { self.descriptor = descriptor }

        /// Gives the lock back now.
        consuming func release() {}

        /// The same lock as a right to refresh.
        consuming func exclusiveRight() -> ExclusiveRight {
            let descriptor = descriptor
            discard self
            return ExclusiveRight { close(descriptor) }
        }

        deinit { close(descriptor) }
    }
#endif
