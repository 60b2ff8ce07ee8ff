import CounterfoilClient
import CounterfoilPlatform
@_spi(Counterfoil) import CounterfoilProtocol

/// Runs work until it ends, or SIGINT (Control-C), SIGTERM or SIGHUP arrives.
///
/// The first signal cancels the task, so that the program can still send the browser a response. The function then
/// throws a ``Failure`` with the exit code of the signal. A second signal ends the program immediately.
func runUntilInterrupted<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
    let terminal = TerminalModes()
    let state = Mutex<(signal: Int32?, task: Task<Value, any Error>?)>((nil, nil))
    // Receive signals before the work begins: a signal during the work must not end the program while echo is off.
    let signals = ReceivedSignals([SIGINT, SIGTERM, SIGHUP]) { received in
        let (isFirst, task) = state.withLock { state in
            defer { state.signal = state.signal ?? received.number }
            return (state.signal == nil, state.task)
        }
        guard !isFirst else {
            task?.cancel()
            return
        }
        terminal?.restore()
        signal(received.number, SIG_DFL)
        kill(getpid(), received.number)
    }
    defer { signals?.end() }
    let task = Task { try await work() }
    let isInterrupted = state.withLock { state in
        state.task = task
        return state.signal != nil
    }
    if isInterrupted { task.cancel() }
    do { return try await task.value } catch {
        guard let number = state.withLock({ $0.signal }) else { throw error }
        throw Failure(interruptedBy: number, error as? SignInError == .cancelled ? "\(error)" : "interrupted")
    }
}

/// The settings of the terminal at standard input, such as echo.
struct TerminalModes: Sendable {
    private let settings: termios

    /// Reads the settings; nil if standard input is not a terminal.
    init?() {
        var settings = termios()
        guard tcgetattr(STDIN_FILENO, &settings) == 0 else { return nil }
        self.settings = settings
    }

    /// Restores the settings, also for a process in the background.
    func restore() {
        var settings = settings
        let former = signal(SIGTTOU, SIG_IGN)
        tcsetattr(STDIN_FILENO, TCSANOW, &settings)
        signal(SIGTTOU, former)
    }
}
