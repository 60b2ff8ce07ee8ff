#if os(Linux)
    import CounterfoilPlatform

    /// A run of a program that reads a fixed input, with a limit on its output and on its time.
    ///
    /// A separate thread waits for the program. Cancelling the task does not stop the program, because a secret
    /// that the program is storing would be lost.
    struct ProgramRun: Sendable {
        let path: String
        let arguments: [String]
        let environment: [String: String]
        /// The standard input; it must fit into the buffer of a socket, because it is sent before the program starts.
        var input: [UInt8] = []
        /// The maximum length of each of the two output streams, in bytes.
        var byteLimit = 64 * 1024
        /// The time limit of the run, after which the program is killed.
        var timeout: Duration

        struct Outcome: Sendable {
            /// The exit status, or 128 plus the number of the signal that ended the program.
            let status: Int32
            let output: [UInt8]
            let errors: [UInt8]
        }

        enum Failure: Error, Sendable {
            case cannotStart
            case timedOut
            case tooLong
        }

        /// Runs the program and waits until it has exited or was killed.
        func outcome() async throws(Failure) -> Outcome {
            try await DetachedThread.result { run() }.get()
        }

        private func run() -> Result<Outcome, Failure> {
            guard let streams = Streams() else { return .failure(.cannotStart) }
            defer { streams.closeAll() }
            // The socket buffers the whole input before the program starts, so this process never waits for the
            // program to read it.
            let isGiven =
                input.isEmpty
                || send(streams.input.0, input, input.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT)) == input.count
            shutdown(streams.input.0, Int32(SHUT_WR))
            guard
                isGiven,
                let child = try? ChildProcess.spawn(
                    path: path, arguments: arguments, environment: environment,
                    streams: (streams.input.1, streams.output.1, streams.errors.1))
            else { return .failure(.cannotStart) }
            streams.closeTheirs()
            let deadline = ContinuousClock.now + timeout
            let written = collect([streams.output.0, streams.errors.0], until: deadline)
            let status = wait(for: child, until: deadline, isOver: (try? written.get()) == nil)
            return written.flatMap { written in
                status.map { .success(Outcome(status: $0, output: written[0], errors: written[1])) }
                    ?? .failure(.timedOut)
            }
        }

        private func collect(
            _ descriptors: [Int32], until deadline: ContinuousClock.Instant
        ) -> Result<[[UInt8]], Failure> {
            var open = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            var written = descriptors.map { _ in [UInt8]() }
            var buffer = [UInt8](repeating: 0, count: 16 * 1024)
            while open.contains(where: { $0.fd >= 0 }) {
                let rest = ((deadline - ContinuousClock.now) / .milliseconds(1)).rounded(.up)
                guard rest > 0 else { return .failure(.timedOut) }
                guard poll(&open, nfds_t(open.count), Int32(min(rest, 60_000))) > 0 else { continue }
                for index in open.indices where open[index].fd >= 0 && open[index].revents != 0 {
                    let count = read(open[index].fd, &buffer, buffer.count)
                    if count > 0 {
                        written[index] += buffer[..<count]
                        guard written[index].count <= byteLimit else { return .failure(.tooLong) }
                    } else if count == 0 || errno != EINTR {
                        open[index].fd = -1
                    }
                }
            }
            return .success(written)
        }

        /// Waits for the program to exit and returns its status; nil if this function killed the program.
        ///
        /// The function kills the program at the deadline. If `isOver` is true, because reading the output failed, the
        /// function kills the program at once.
        private func wait(for child: pid_t, until deadline: ContinuousClock.Instant, isOver: Bool) -> Int32? {
            var status: Int32 = 0
            while !isOver && ContinuousClock.now < deadline {
                let ended = waitpid(child, &status, WNOHANG)
                if ended == child { return status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F) }
                guard ended == 0 || errno == EINTR else { return nil }
                usleep(500)
            }
            // The child has not been reaped yet, so its process ID and its group ID cannot belong to another
            // process.
            kill(-child, SIGKILL)
            while waitpid(child, &status, 0) < 0 && errno == EINTR {}
            return nil
        }
    }

    /// The standard streams of a program, each as a pair of sockets: the end of this process, then the program's end.
    private final class Streams {
        let input: (Int32, Int32)
        let output: (Int32, Int32)
        let errors: (Int32, Int32)
        private var isTheirsOpen = true

        init?() {
            var ends: [[Int32]] = []
            for _ in 0..<3 {
                guard let pair = Self.makePair() else {
                    for descriptor in ends.joined() { close(descriptor) }
                    return nil
                }
                ends.append(pair)
            }
            (input, output, errors) = ((ends[0][0], ends[0][1]), (ends[1][0], ends[1][1]), (ends[2][0], ends[2][1]))
        }

        func closeTheirs() {
            guard isTheirsOpen else { return }
            isTheirsOpen = false
            for descriptor in [input.1, output.1, errors.1] { close(descriptor) }
        }

        func closeAll() {
            closeTheirs()
            for descriptor in [input.0, output.0, errors.0] { close(descriptor) }
        }

        private static func makePair() -> [Int32]? {
            var pair: [Int32] = [0, 0]
            // Without SOCK_CLOEXEC, a program that another thread starts at this moment would inherit the sockets.
            #if canImport(Glibc)
                let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
            #else
                let type = SOCK_STREAM | SOCK_CLOEXEC
            #endif
            return socketpair(AF_UNIX, type, 0, &pair) == 0 ? pair : nil
        }
    }
#endif
