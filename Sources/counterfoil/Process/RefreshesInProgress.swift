import CounterfoilClient
import CounterfoilPlatform
@_spi(Counterfoil) import CounterfoilProtocol

/// The refreshes that this process has sent and not stored yet.
///
/// A server that rotates refresh tokens may reject the previous one as soon as it has answered. Until the answer is
/// stored, the process therefore neither exits nor lets SIGINT, SIGTERM or SIGHUP end it.
final class RefreshesInProgress: Sendable {
    /// Those of this process.
    static let shared = RefreshesInProgress()

    private struct State {
        var count = 0
        /// The first signal that arrived.
        var received: Int32?
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())
    /// The signals that are held back; nil if no refresh is in progress, or if another part of the program receives
    /// them.
    ///
    /// It is locked before ``state``, and while it ends, so that a refresh that begins meanwhile holds them again.
    private let signals = Mutex<ReceivedSignals?>(nil)

    private init() {}

    /// Holds the signals back from now on, unless a part of the program receives them anyway.
    func begin() {
        signals.withLock { signals in
            state.withLock { $0.count += 1 }
            hold(&signals)
        }
    }

    private func hold(_ signals: inout ReceivedSignals?) {
        guard state.withLock({ $0.count }) > 0, !ReceivedSignals.areReceived else { return }
        signals = ReceivedSignals([SIGINT, SIGTERM, SIGHUP]) { [self] in receive($0.number) }
    }

    /// Ends the process by the signal that arrived during the last refresh in progress, if there was one.
    func end() {
        let waiting = signals.withLock { signals -> [CheckedContinuation<Void, Never>] in
            let isLast = state.withLock { state in
                state.count -= 1
                return state.count == 0
            }
            guard isLast else { return [] }
            let areReceivedElsewhere = signals?.end() == false
            signals = nil
            return state.withLock { state in
                if let received = state.received, !areReceivedElsewhere { Self.die(of: received) }
                state.received = nil
                defer { state.waiting = [] }
                return state.waiting
            }
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Waits for the end of all refreshes in progress, which the cancellation of a task does not end.
    func finish() async {
        await withCheckedContinuation { continuation in
            let isFree = signals.withLock { signals in
                // The part of the program that received the signals may have ended.
                hold(&signals)
                return state.withLock { state in
                    if state.count > 0 { state.waiting.append(continuation) }
                    return state.count == 0
                }
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
