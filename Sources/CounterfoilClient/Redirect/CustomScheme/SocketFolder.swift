#if os(Linux)
    import CounterfoilProtocol
    import CounterfoilPlatform

    /// The folder for the sockets of waiting programs, with mode 0700 and owned by the user of this process.
    ///
    /// Files in the folder are accessed through its open descriptor (`/proc/self/fd`), so that the folder in use
    /// is always the folder that was checked. This also avoids the limit of 108 bytes for a socket path.
    final class SocketFolder: Sendable {
        let path: String
        private let descriptor: Int32

        /// Opens a folder; creates it first if `making` is true.
        init(_ path: String, making: Bool) throws(FileFailure) {
            if making { try DesktopFile.makeFolder(path) }
            descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
            guard descriptor >= 0 else { throw FileFailure(path) }
            self.path = path
            var facts = stat()
            guard fstat(descriptor, &facts) == 0 else { throw FileFailure(path) }
            guard facts.st_uid == geteuid() else { throw FileFailure(path, "it belongs to another user") }
            guard facts.st_mode & 0o077 == 0 else {
                throw FileFailure(path, "other users can access it; run: chmod 700 \(path)")
            }
        }

        deinit { close(descriptor) }

        /// Listens on a new socket with a hidden name; ``publish(_:of:)`` renames it so that other processes find it.
        func listen() throws(FileFailure) -> (socket: Int32, name: String) {
            let name = ".\(Base64URL.encode(RandomBytes().bytes(12)))"
            let socket: Int32
            do { socket = try Socket.make(AF_UNIX) } catch { throw FileFailure(path) }
            // Set the mode of the socket before `bind`, because the socket file takes its mode from the socket.
            let isBound =
                fchmod(socket, 0o600) == 0 && Self.withAddress(reach(name)) { systemBind(socket, $0, $1) } == 0
            guard isBound, chmod(reach(name), 0o600) == 0, systemListen(socket, Int32(Socket.backlog)) == 0 else {
                let failure = FileFailure(path)
                close(socket)
                if isBound { remove(name) }
                throw failure
            }
            return (socket, name)
        }

        /// Renames a listening socket so that other processes find it by its scheme, and returns the new name.
        func publish(_ name: String, of scheme: String) throws(FileFailure) -> String {
            let published = "\(scheme)@\(name.dropFirst())"
            guard rename(reach(name), reach(published)) == 0 else { throw FileFailure(path) }
            return published
        }

        /// Returns the file names of the sockets of a scheme, including those of killed programs.
        func sockets(of scheme: String) -> [String] {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: reach("."))) ?? []
            return names.filter { $0.hasPrefix("\(scheme)@") }.sorted()
        }

        /// Connects to a socket; nil on failure.
        ///
        /// If no program listens on the socket, its file is removed.
        func connect(to name: String) -> Int32? {
            guard let socket = try? Socket.make(AF_UNIX, isBlocking: true) else { return nil }
            var limit = timeval(tv_sec: 5, tv_usec: 0)
            for option in [SO_SNDTIMEO, SO_RCVTIMEO] {
                setsockopt(socket, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
            }
            guard Self.withAddress(reach(name), { systemConnect(socket, $0, $1) }) == 0 else {
                if errno == ECONNREFUSED { remove(name) }
                close(socket)
                return nil
            }
            return socket
        }

        /// Returns whether a program waits for callbacks to a scheme.
        func isAwaited(_ scheme: String) -> Bool {
            sockets(of: scheme).contains { name in
                guard let socket = connect(to: name) else { return false }
                close(socket)
                return true
            }
        }

        /// Removes a file of this folder, if it exists.
        func remove(_ name: String) { unlink(reach(name)) }

        /// Creates a symbolic link to a program, and returns the path of the link.
        ///
        /// It is for a program whose own path a desktop could parse incorrectly.
        func link(_ program: String, as name: String) throws(FileFailure) -> String {
            remove(name)
            guard symlink(program, reach(name)) == 0 else { throw FileFailure("\(path)/\(name)") }
            return "\(path)/\(name)"
        }

        private func reach(_ name: String) -> String { "/proc/self/fd/\(descriptor)/\(name)" }

        private static func withAddress(
            _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
        ) -> Int32 {
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            let fits = withUnsafeMutableBytes(of: &address.sun_path) { place in
                guard path.utf8.count < place.count else { return false }
                place.copyBytes(from: path.utf8)
                return true
            }
            guard fits else {
                errno = ENAMETOOLONG
                return -1
            }
            return withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
        }
    }
#endif
