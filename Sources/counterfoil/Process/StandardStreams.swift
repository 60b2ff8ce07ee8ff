import CounterfoilClient
import CounterfoilPlatform

/// The standard streams of this process, whose write errors are reported.
enum StandardStreams {
    /// Opens the streams with which the process was not started, and ignores SIGPIPE.
    ///
    /// Otherwise the next file that the program opens would be its standard output, and would receive the token. The
    /// substitute for a missing standard output refuses every write.
    static func prepare() {
        for stream in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(stream, F_GETFD) < 0 {
            _ = open("/dev/null", stream == STDERR_FILENO ? O_WRONLY : O_RDONLY)
        }
        signal(SIGPIPE, SIG_IGN)
    }

    /// Writes bytes to standard output.
    ///
    /// If the reader has closed the pipe, it wants no more output, and the function returns false.
    @discardableResult
    static func write(_ bytes: [UInt8]) throws(Failure) -> Bool {
        let error = write(bytes, to: STDOUT_FILENO)
        guard error == 0 || error == EPIPE else { throw failure(error) }
        return error == 0
    }

    /// Writes bytes to standard error; bytes that cannot be written are lost.
    static func writeError(_ bytes: [UInt8]) { _ = write(bytes, to: STDERR_FILENO) }

    /// Reports an error that the system has kept until the file is closed, as network file systems do.
    static func finish() throws(Failure) {
        let copy = dup(STDOUT_FILENO)
        guard copy >= 0 else { return }
        guard close(copy) != 0, [EIO, ENOSPC, EDQUOT].contains(errno) else { return }
        throw failure(errno)
    }

    private static func failure(_ error: Int32) -> Failure {
        Failure(.output, "the output could not be written: \(String(cString: strerror(error)))")
    }

    /// Writes all bytes, and returns 0 or the `errno` of the failure.
    private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { systemWrite(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
                continue
            }
            switch errno {
            case EINTR: continue
            case EAGAIN:
                // Another program has made the pipe or terminal that they share non-blocking.
                var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&ready, 1, -1)
            default: return errno
            }
        }
        return 0
    }
}
