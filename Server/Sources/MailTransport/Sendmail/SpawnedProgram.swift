import Foundation

/// A program in a process group of its own, which inherits its standard input and nothing else.
struct SpawnedProgram {
    private let child: pid_t

    /// Starts a program; nil if the system cannot.
    init?(_ path: String, _ arguments: [String], standardInput: Int32) {
        #if canImport(Darwin)
            var actions: posix_spawn_file_actions_t?
            var attributes: posix_spawnattr_t?
        #else
            var actions = posix_spawn_file_actions_t()
            var attributes = posix_spawnattr_t()
        #endif
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, standardInput, STDIN_FILENO)
        for stream in [STDOUT_FILENO, STDERR_FILENO] {
            posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_RDWR, 0)
        }
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP
        #if canImport(Darwin)
            flags |= POSIX_SPAWN_CLOEXEC_DEFAULT
        #else
            Self.closeOthers(in: &actions)
        #endif
        var signals = sigset_t()
        // The threads of the server block signals, and the server ignores some.
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGALRM, SIGCHLD] { sigaddset(&signals, signal) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(&attributes, Int16(flags))
        let words = ([path] + arguments).map { strdup($0) } + [nil]
        let variables = [strdup("PATH=/usr/sbin:/usr/bin:/sbin:/bin"), nil]
        defer { for text in words + variables { free(text) } }
        var child: pid_t = 0
        guard posix_spawn(&child, path, &actions, &attributes, words, variables) == 0 else { return nil }
        self.child = child
    }

    /// Reaps the program if it has exited, and returns its status, or 128 plus the number of the signal that ended it;
    /// nil while it runs.
    func status() -> Int32? { reaped(WNOHANG) }

    /// Kills the program and its process group; returns the status if the program had exited before.
    func kill() -> Int32? {
        // It has not been reaped, so its identifiers belong to no other process.
        Foundation.kill(-child, SIGKILL)
        guard let status = reaped(0), status != 128 + SIGKILL else { return nil }
        return status
    }

    private func reaped(_ options: Int32) -> Int32? {
        var status: Int32 = 0
        var ended = waitpid(child, &status, options)
        while ended < 0 && errno == EINTR { ended = waitpid(child, &status, options) }
        guard ended != 0 else { return nil }
        // Another part of the process has reaped it, so its status is lost.
        guard ended == child else { return 128 }
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F)
    }

    #if !canImport(Darwin)
        private typealias CloseFrom =
            @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, CInt) -> CInt

        /// `posix_spawn_file_actions_addclosefrom_np`, which glibc has since version 2.34; nil without it.
        private static let closeFrom: CloseFrom? = dlsym(
            dlopen(nil, RTLD_NOW), "posix_spawn_file_actions_addclosefrom_np"
        ).map { unsafeBitCast($0, to: CloseFrom.self) }

        /// Closes all descriptors but the standard streams in the child; without the function of glibc, those that are
        /// open now.
        private static func closeOthers(in actions: inout posix_spawn_file_actions_t) {
            if let closeFrom, closeFrom(&actions, STDERR_FILENO + 1) == 0 { return }
            for name in (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? [] {
                guard let descriptor = Int32(name), descriptor > STDERR_FILENO else { continue }
                posix_spawn_file_actions_addclose(&actions, descriptor)
            }
        }
    #endif
}
