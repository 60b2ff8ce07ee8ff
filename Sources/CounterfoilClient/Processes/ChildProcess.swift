#if os(Linux) || os(macOS)
    import CounterfoilPlatform

    /// A child process that receives only its arguments, its environment and the three standard streams.
    ///
    /// The child inherits no socket. An inherited socket would keep a port in use after this process has closed it.
    /// The child starts with no blocked signals, although signals are blocked on the threads of Swift tasks.
    @_spi(Counterfoil) public struct ChildProcess: Sendable {
        /// The process identifier.
        public let identifier: Int32
        private let ends: AsyncStream<Int32>

        /// The error for a program that the system cannot start.
        @_spi(Counterfoil) public struct CannotStart: Error {}

        /// Starts a program.
        ///
        /// A stream that is nil is connected to `/dev/null`. `name` is the first of the words that the program
        /// receives; nil means the path. With `startsSession`, the program has no terminal and outlives that of this
        /// process.
        public init(
            path: String,
            name: String? = nil,
            arguments: [String],
            environment: [String: String],
            standardInput: Int32? = nil,
            standardOutput: Int32? = nil,
            standardError: Int32? = nil,
            startsSession: Bool = false
        ) throws(CannotStart) {
            identifier = try Self.spawn(
                path: path, name: name, arguments: arguments, environment: environment,
                streams: (standardInput, standardOutput, standardError), startsSession: startsSession)
            ends = Self.end(of: identifier)
        }

        /// Starts a program in a new process group, or in a new session.
        ///
        /// The caller must reap the process with `waitpid`.
        static func spawn(
            path: String,
            name: String? = nil,
            arguments: [String],
            environment: [String: String],
            streams: (input: Int32?, output: Int32?, errors: Int32?),
            startsSession: Bool = false
        ) throws(CannotStart) -> pid_t {
            #if canImport(Darwin)
                var actions: posix_spawn_file_actions_t?
                var attributes: posix_spawnattr_t?
            #else
                var actions = posix_spawn_file_actions_t()
                var attributes = posix_spawnattr_t()
            #endif
            posix_spawn_file_actions_init(&actions)
            defer { posix_spawn_file_actions_destroy(&actions) }
            for (stream, descriptor) in [
                (STDIN_FILENO, streams.input), (STDOUT_FILENO, streams.output), (STDERR_FILENO, streams.errors),
            ] {
                if let descriptor {
                    posix_spawn_file_actions_adddup2(&actions, descriptor, stream)
                } else {
                    posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_RDWR, 0)
                }
            }
            var flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
            flags |= startsSession ? Self.startingSession : POSIX_SPAWN_SETPGROUP
            #if canImport(Darwin)
                // The system closes all other descriptors in the child.
                flags |= POSIX_SPAWN_CLOEXEC_DEFAULT
            #else
                Self.closeOthers(in: &actions)
            #endif

            posix_spawnattr_init(&attributes)
            defer { posix_spawnattr_destroy(&attributes) }
            var signals = sigset_t()
            sigemptyset(&signals)
            posix_spawnattr_setsigmask(&attributes, &signals)
            for signal in [SIGINT, SIGTERM, SIGHUP, SIGPIPE] { sigaddset(&signals, signal) }
            posix_spawnattr_setsigdefault(&attributes, &signals)
            // In a new process group, the browser of the user does not receive the SIGINT of Control-C in the
            // terminal. A new session has a new process group, too.
            posix_spawnattr_setpgroup(&attributes, 0)
            posix_spawnattr_setflags(&attributes, Int16(flags))

            let words = ([name ?? path] + arguments).map { strdup($0) } + [nil]
            let variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
            defer { for text in words + variables { free(text) } }
            var child: pid_t = 0
            guard posix_spawn(&child, path, &actions, &attributes, words, variables) == 0 else { throw CannotStart() }
            return child
        }

        #if canImport(Darwin)
            private static let startingSession = POSIX_SPAWN_SETSID
        #else
            /// `POSIX_SPAWN_SETSID`, which glibc has since version 2.26, and musl too, and which is not imported.
            private static let startingSession: Int32 = 0x80
        #endif

        #if !canImport(Darwin)
            private typealias CloseFrom =
                @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, CInt) -> CInt

            /// `posix_spawn_file_actions_addclosefrom_np`, which glibc has since version 2.34; nil without it.
            private static let closeFrom: CloseFrom? = dlsym(
                dlopen(nil, RTLD_NOW), "posix_spawn_file_actions_addclosefrom_np"
            ).map { unsafeBitCast($0, to: CloseFrom.self) }

            /// Closes all descriptors but the standard streams in the child.
            private static func closeOthers(in actions: inout posix_spawn_file_actions_t) {
                if let closeFrom, closeFrom(&actions, STDERR_FILENO + 1) == 0 { return }
                // Another thread may have closed some of the descriptors before the child starts. Closing a descriptor
                // that is not open does no harm. One that is opened meanwhile without `O_CLOEXEC` stays open.
                for name in (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? [] {
                    guard let descriptor = Int32(name), descriptor > STDERR_FILENO else { continue }
                    posix_spawn_file_actions_addclose(&actions, descriptor)
                }
            }
        #endif

        /// The exit status, or 128 plus the number of the signal that ended the process; nil if the waiting
        /// task is cancelled.
        public var exitStatus: Int32? {
            get async {
                for await status in ends { return status }
                return nil
            }
        }

        /// Waits for a child on a separate thread, so that the child is reaped even if no task waits for it.
        private static func end(of child: pid_t) -> AsyncStream<Int32> {
            let (ends, end) = AsyncStream.makeStream(of: Int32.self)
            let isWaiting = DetachedThread.start {
                var status: Int32 = 0
                while waitpid(child, &status, 0) < 0 && errno == EINTR {}
                let signal = status & 0x7F
                end.yield(signal == 0 ? (status >> 8) & 0xFF : 128 + signal)
                end.finish()
            }
            // Without a thread, nothing reports the end of the child.
            if !isWaiting { end.finish() }
            return ends
        }
    }
#endif
