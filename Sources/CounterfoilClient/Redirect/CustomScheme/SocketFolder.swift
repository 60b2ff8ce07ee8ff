#if os(Linux)
    import CounterfoilProtocol
    import Foundation

    /// The folder in which waiting programs have their sockets: mode 0700 and owned by whoever runs this process.
    ///
    /// What is checked is what is used: its files are reached through the open folder, which also frees their paths from the
    /// limit of a socket's address (108 bytes).
    final class SocketFolder: Sendable {
        let path: String
        private let descriptor: Int32

        /// Opens a folder, and makes it first when asked.
        init(_ path: String, making: Bool) throws(FileFailure) {
            if making { try DesktopFile.makeFolder(path) }
            descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
            guard descriptor >= 0 else { throw FileFailure(path) }
            self.path = path
            var facts = stat()
            guard fstat(descriptor, &facts) == 0 else { throw FileFailure(path) }
            guard facts.st_uid == geteuid() else { throw FileFailure(path, "it belongs to another user") }
            guard facts.st_mode & 0o077 == 0 else {
                throw FileFailure(path, "others may enter it; run: chmod 700 \(path)")
            }
        }

        deinit { close(descriptor) }

        /// A new socket that is bound and not yet found by anybody; ``publish(_:of:)`` gives it its name.
        func bind() throws(FileFailure) -> (socket: Int32, name: String) {
            let name = ".\(Base64URL.encode(RandomBytes().bytes(12)))"
            let socket = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            guard socket >= 0 else { throw FileFailure(path) }
            // The mode of the file is that of the socket when it is bound.
            let isBound =
                fchmod(socket, 0o600) == 0 && Self.withAddress(reach(name)) { Foundation.bind(socket, $0, $1) } == 0
            guard isBound, chmod(reach(name), 0o600) == 0 else {
                let failure = FileFailure(path)
                close(socket)
                throw failure
            }
            return (socket, name)
        }

        /// Lets a socket that listens be found under its scheme; its name.
        func publish(_ name: String, of scheme: String) throws(FileFailure) -> String {
            let published = "\(scheme)@\(name.dropFirst())"
            guard rename(reach(name), reach(published)) == 0 else { throw FileFailure(path) }
            return published
        }

        /// The sockets of a scheme, those of programs that were killed among them.
        func sockets(of scheme: String) -> [String] {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: reach("."))) ?? []
            return names.filter { $0.hasPrefix("\(scheme)@") }.sorted()
        }

        /// Connects to a socket; nil when nobody listens there any more, and then it is gone.
        func connect(to name: String) -> Int32? {
            let socket = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            guard socket >= 0 else { return nil }
            var limit = timeval(tv_sec: 5, tv_usec: 0)
            for option in [SO_SNDTIMEO, SO_RCVTIMEO] {
                setsockopt(socket, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
            }
            guard Self.withAddress(reach(name), { Foundation.connect(socket, $0, $1) }) == 0 else {
                if errno == ECONNREFUSED { remove(name) }
                close(socket)
                return nil
            }
            return socket
        }

        /// Whether a program waits for answers of a scheme.
        func isAwaited(_ scheme: String) -> Bool {
            sockets(of: scheme).contains { name in
                guard let socket = connect(to: name) else { return false }
                close(socket)
                return true
            }
        }

        /// Removes a file of this folder, if it is there.
        func remove(_ name: String) { unlink(reach(name)) }

        /// Makes a link to a program whose own path a desktop could misread; the path of the link.
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
