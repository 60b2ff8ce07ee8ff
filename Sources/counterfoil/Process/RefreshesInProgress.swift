import CounterfoilClient
import CounterfoilProtocol

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The refreshes that this process has sent and not stored yet.
///
/// A server that rotates refresh tokens may reject the previous one as soon as it has answered. Until the answer is
/// stored, the process therefore neither exits nor lets SIGINT, SIGTERM or SIGHUP end it.
final class RefreshesInProgress: Sendable {
    /// Those of this process.
    static let shared = RefreshesInProgress()

    private struct State {
        var count = 0
        var signals: ReceivedSignals?
        /// The first signal that arrived.
        var received: Int32?
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    private init() {}

    /// Holds the signals back from now on, unless a part of the program receives them anyway.
    func begin() {
        state.withLock { state in
            state.count += 1
            holdSignals(&state)
        }
    }

    private func holdSignals(_ state: inout State) {
        guard state.count > 0, !ReceivedSignals.areReceived else { return }
        state.signals = ReceivedSignals([SIGINT, SIGTERM, SIGHUP]) { [self] in receive($0.number) }
    }

    /// Ends the process by the signal that arrived during the last refresh in progress, if there was one.
    func end() {
        let (signals, waiting) = state.withLock { state -> (ReceivedSignals?, [CheckedContinuation<Void, Never>]) in
            state.count -= 1
            guard state.count == 0 else { return (nil, []) }
            defer { (state.signals, state.waiting) = (nil, []) }
            return (state.signals, state.waiting)
        }
        signals?.end()
        if let received = state.withLock({ $0.received }) { Self.die(of: received) }
        for continuation in waiting { continuation.resume() }
    }

    /// Waits for the end of all refreshes in progress, which the cancellation of a task does not end.
    func finish() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                // The part of the program that received the signals may have ended.
                holdSignals(&state)
                if state.count > 0 { state.waiting.append(continuation) }
                return state.count == 0
            }
            if isFree { continuation.resume() }
        }
    }

    private func receive(_ signal: Int32) {
        let isFirst = state.withLock { state in
            defer { state.received = state.received ?? signal }
            return state.received == nil
        }
        guard isFirst else {
            // When a terminal is closed, both the system and the shell send SIGHUP.
            if signal != SIGHUP { Self.die(of: signal) }
            return
        }
        guard isatty(STDERR_FILENO) == 1 else { return }
        CommandOutput(writesJSON: false, isVerbose: false).say(
            "The token is being refreshed, and this program ends when the new one is stored. "
                + "Press Control-C again to end it now; you may then have to sign in again.")
    }

    private static func die(of number: Int32) -> Never {
        signal(number, SIG_DFL)
        kill(getpid(), number)
        // Another thread receives the signal.
        while true { sleep(1) }
    }
}
