#if !os(Windows)
    @_spi(Counterfoil) import CounterfoilProtocol
    import CounterfoilPlatform

    /// The lines that a user pastes on a terminal, or that a program writes to standard input.
    ///
    /// Echo is turned off on a terminal, because a callback contains a code. Canonical mode is turned off too,
    /// because it truncates lines at 4096 bytes. The delete key and Control-U edit the line; Control-C and
    /// Control-D end the input. The previous terminal settings are restored when the input ends or ``stop()`` is
    /// called.
    public final class PastedLines: Sendable {
        /// The maximum length of a line, in bytes.
        ///
        /// A longer line is truncated to this length. It is one byte more than a callback may have, so that
        /// ``CallbackURL`` still rejects a truncated line as too long.
        static let lineLimit = CallbackURL.byteLimit + 1

        private let lines: AsyncStream<String>
        private let line: AsyncStream<String>.Continuation
        /// The descriptor whose closing wakes the reading thread, and the one at which the thread reports that it has
        /// restored the terminal; both are -1 after ``stop()``.
        private let ends: Mutex<(wake: Int32, restored: Int32)>

        /// Starts to read an open file descriptor, by default standard input.
        public init(from descriptor: Int32 = 0) {
            (lines, line) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingOldest(16))
            guard let stop = Self.pipeEnds(), let end = Self.pipeEnds() else {
                ends = Mutex((-1, -1))
                line.finish()
                return
            }
            ends = Mutex((wake: stop.writing, restored: end.reading))
            let line = line
            _ = DetachedThread.start {
                let disabledEcho = DisabledEcho(descriptor)
                Self.read(descriptor, until: stop.reading, isTerminal: disabledEcho != nil) { line.yield($0) }
                disabledEcho?.end()
                line.finish()
                close(stop.reading)
                close(end.writing)
            }
        }

        private static func pipeEnds() -> (reading: Int32, writing: Int32)? {
            var ends: [Int32] = [-1, -1]
            guard pipe(&ends) == 0 else { return nil }
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            return (ends[0], ends[1])
        }

        deinit { stop() }

        /// Returns the next line without its terminator; nil at the end of the input or after a cancellation.
        public func next() async -> String? {
            for await line in lines { return line }
            return nil
        }

        /// Ends the input and restores the terminal settings.
        ///
        /// The settings are restored when the function returns, so that the program can exit at once.
        public func stop() {
            ends.withLock { ends in
                guard ends.wake >= 0 else { return }
                close(ends.wake)
                var byte: UInt8 = 0
                while systemRead(ends.restored, &byte, 1) < 0 && errno == EINTR {}
                close(ends.restored)
                ends = (-1, -1)
            }
        }

        private static func read(
            _ descriptor: Int32, until stopped: Int32, isTerminal: Bool, _ yield: (String) -> Void
        ) {
            var line: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 4096)
            while true {
                var sources = [
                    pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
                    pollfd(fd: stopped, events: Int16(POLLIN), revents: 0),
                ]
                if poll(&sources, 2, -1) < 0 && errno == EINTR { continue }
                guard sources[1].revents == 0 else { return }
                let count = systemRead(descriptor, &buffer, buffer.count)
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else { return line.isEmpty ? () : yield(String(decoding: line, as: UTF8.self)) }
                for byte in buffer[..<count] {
                    switch byte {
                    case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                        if !isTerminal || !line.isEmpty { yield(String(decoding: line, as: UTF8.self)) }
                        line.removeAll()
                    case 3 where isTerminal, 4 where isTerminal: return
                    case 8 where isTerminal, 127 where isTerminal: _ = line.popLast()
                    case 21 where isTerminal: line.removeAll()
                    default: if line.count < lineLimit { line.append(byte) }
                    }
                }
            }
        }
    }

    /// A terminal whose echo is off until ``end()`` restores the previous settings.
    private struct DisabledEcho {
        private let descriptor: Int32
        private var former = termios()

        /// Turns the echo off; nil if the descriptor is not a terminal.
        init?(_ descriptor: Int32) {
            self.descriptor = descriptor
            guard isatty(descriptor) == 1, tcgetattr(descriptor, &former) == 0 else { return nil }
            var silent = former
            silent.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG)
            guard tcsetattr(descriptor, TCSANOW, &silent) == 0 else { return nil }
        }

        func end() {
            var former = former
            tcsetattr(descriptor, TCSANOW, &former)
        }
    }
#endif
