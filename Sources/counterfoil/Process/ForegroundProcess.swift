import CounterfoilClient
import CounterfoilPlatform
@_spi(Counterfoil) import CounterfoilProtocol

/// A program that takes the place of this one: it gets the standard streams, the process group, the inherited
/// descriptors and the signals of this process.
final class ForegroundProcess: Sendable {
    /// The reason why a program cannot be started.
    struct CannotStart: Error {
        /// The value of `errno`.
        let error: Int32
    }

    /// The recipient of the signals, which arrive before it starts, too.
    private final class Recipient: Sendable {
        private struct State {
            /// The process, from its start until it is reaped.
            var process: pid_t?
            var waiting: [Int32] = []
        }

        private let state = Mutex(State())

        func send(_ signal: Int32) {
            state.withLock { state in
                guard let process = state.process else { return state.waiting.append(signal) }
                kill(process, signal)
            }
        }

        func start(_ process: pid_t) {
            state.withLock { state in
                state.process = process
                for signal in state.waiting { kill(process, signal) }
            }
        }

        /// Waits for the end of the process, and returns its status.
        func status(of process: pid_t) -> Int32 {
            // Wait without reaping. Until the process is reaped, its number cannot belong to another one, which a
            // signal could reach.
            var information = siginfo_t()
            while waitid(P_PID, id_t(process), &information, WEXITED | WNOWAIT) < 0 && errno == EINTR {}
            return state.withLock { state in
                state.process = nil
                var status: Int32 = 0
                while waitpid(process, &status, 0) < 0 && errno == EINTR {}
                return status
            }
        }
    }

    private static let passedOn = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2]

    private let recipient = Recipient()
    private let signals: ReceivedSignals?

    /// Receives the signals of this process from now on, so that they do not end it, and keeps them for the program.
    ///
    /// A signal that another process sends to this one is sent to the program. The terminal sends Control-C to every
    /// process in the foreground, so the program receives it anyway.
    init() {
        signals = ReceivedSignals(Self.passedOn) { [recipient] received in
            if received.isAddressed { recipient.send(received.number) }
        }
    }

    /// Restores the default actions of the signals.
    func end() { signals?.end() }

    /// Runs a program until it ends, and returns its exit code, or 128 and the number of the signal that ended it.
    func run(_ command: [String], environment: [String: String]) async throws(CannotStart) -> Int32 {
        let child = try Self.spawn(command, environment)
        recipient.start(child)
        let status = await DetachedThread.result { [recipient] in recipient.status(of: child) }
        let signal = status & 0x7F
        return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
    }

    /// Starts a program, which is searched in `PATH`.
    ///
    /// This process opens its own descriptors with `O_CLOEXEC`, so the program inherits only those that were meant for
    /// it.
    private static func spawn(_ command: [String], _ environment: [String: String]) throws(CannotStart) -> pid_t {
        #if canImport(Darwin)
            var attributes: posix_spawnattr_t?
        #else
            var attributes = posix_spawnattr_t()
        #endif
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // Signals are blocked on the threads of Swift tasks, and this process ignores SIGPIPE. The actions of the other
        // signals become the default ones, except for those that this process was started to ignore.
        var (blocked, defaults) = (sigset_t(), sigset_t())
        sigemptyset(&blocked)
        sigemptyset(&defaults)
        sigaddset(&defaults, SIGPIPE)
        posix_spawnattr_setsigmask(&attributes, &blocked)
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        let words = command.map { strdup($0) } + [nil]
        let variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in words + variables { free(text) } }
        var child: pid_t = 0
        let error = posix_spawnp(&child, command[0], nil, &attributes, words, variables)
        guard error == 0 else { throw CannotStart(error: error) }
        return child
    }
}
