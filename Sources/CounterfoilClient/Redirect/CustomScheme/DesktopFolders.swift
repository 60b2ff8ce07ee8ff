#if os(Linux)
    import CounterfoilPlatform

    /// The paths of the desktop files and socket folders of the user who runs this process.
    ///
    /// XDG Base Directory Specification 0.8. A variable that contains no absolute path is ignored.
    struct DesktopFolders: Sendable, Hashable {
        /// The error for an environment without an absolute path in `HOME`.
        struct NoHome: Error {}

        /// `$XDG_DATA_HOME/applications`: the folder for desktop entries.
        let applications: String
        /// `$XDG_CONFIG_HOME/mimeapps.list`: the default applications of the user.
        let choices: String
        /// The lock file for changes to the desktop entries and to `mimeapps.list`.
        let lock: String
        /// The folders that may contain sockets of waiting programs, in order of preference for new sockets.
        ///
        /// A handoff searches all of them, because the desktop may start a program with other environment
        /// variables than a terminal does.
        let sockets: [String]

        init(environment: [String: String]) throws(NoHome) {
            func path(_ variable: String) -> String? { environment[variable].flatMap { $0.hasPrefix("/") ? $0 : nil } }
            guard let home = path("HOME") else { throw NoHome() }
            let data = path("XDG_DATA_HOME") ?? "\(home)/.local/share"
            applications = "\(data)/applications"
            lock = "\(data)/counterfoil/redirect.lock"
            choices = (path("XDG_CONFIG_HOME") ?? "\(home)/.config") + "/mimeapps.list"
            let cache = path("XDG_CACHE_HOME") ?? "\(home)/.cache"
            let places = [path("XDG_RUNTIME_DIR"), "/run/user/\(geteuid())", cache].compactMap { $0 }
            sockets = places.reduce(into: []) { unique, place in
                if !unique.contains("\(place)/counterfoil") { unique.append("\(place)/counterfoil") }
            }
        }
    }

    /// A failed file operation, with the message of the system.
    struct FileFailure: Error, CustomStringConvertible {
        let path: String
        let reason: String

        init(_ path: String, _ reason: String? = nil) {
            self.path = path
            self.reason = reason ?? String(cString: strerror(errno))
        }

        var description: String { "\(path): \(reason)" }
    }

    /// The functions that read and write desktop entries and `mimeapps.list`; each write replaces the whole file.
    enum DesktopFile {
        /// The maximum size of a file, in bytes.
        static let byteLimit = 4 * 1024 * 1024

        /// Reads a file; nil if it does not exist.
        static func read(_ path: String) throws(FileFailure) -> [UInt8]? {
            let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
            guard descriptor >= 0 else {
                if errno == ENOENT { return nil }
                throw FileFailure(path)
            }
            defer { close(descriptor) }
            let bytes: [UInt8]
            do { bytes = try systemReadAll(descriptor, limit: byteLimit + 1) } catch {
                throw FileFailure(path, "\(error)")
            }
            guard bytes.count <= byteLimit else { throw FileFailure(path, "it is too large") }
            return bytes
        }

        /// Replaces a file atomically and keeps its mode; follows a symbolic link to its target.
        static func replace(_ path: String, with bytes: [UInt8]) throws(FileFailure) {
            let target = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
            var facts = stat()
            let mode = stat(target, &facts) == 0 ? facts.st_mode & 0o777 : 0o600
            let temporary = "\(target).\(getpid())-\(UInt32.random(in: 0 ... .max)).new"
            let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard descriptor >= 0 else { throw FileFailure(target) }
            do throws(FileFailure) {
                defer { close(descriptor) }
                var rest = bytes[...]
                while !rest.isEmpty {
                    let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
                    if count < 0 && errno == EINTR { continue }
                    guard count > 0 else { throw FileFailure(target) }
                    rest = rest.dropFirst(count)
                }
                guard fchmod(descriptor, mode) == 0, fsync(descriptor) == 0, rename(temporary, target) == 0 else {
                    throw FileFailure(target)
                }
            } catch {
                unlink(temporary)
                throw error
            }
        }

        /// Creates a folder and its missing parents with mode 0700 (XDG Base Directory Specification).
        static func makeFolder(_ path: String) throws(FileFailure) {
            var made = ""
            for part in path.split(separator: "/") {
                made += "/\(part)"
                guard mkdir(made, 0o700) == 0 || [EEXIST, EISDIR, EROFS, EACCES].contains(errno) else {
                    throw FileFailure(made)
                }
            }
            var facts = stat()
            guard stat(path, &facts) == 0 else { throw FileFailure(path) }
            guard facts.st_mode & S_IFMT == S_IFDIR else { throw FileFailure(path, "it is not a folder") }
        }
    }
#endif
