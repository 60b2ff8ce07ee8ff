import Dispatch
import Foundation
import Logging
import NIOConcurrencyHelpers

/// Notices pauses of the whole process, such as SIGSTOP, a frozen container, or a machine that was suspended.
///
/// Requests that arrived during a pause waited in the kernel, and the process cannot know for how long. Meanwhile a
/// client may have sent the same request to another server and used the result. Such requests are therefore refused, if
/// the responder wants it.
///
/// A thread of its own leaves a sign twice a second, and each request leaves one, too. A long time without a sign is a
/// pause. A busy server is not paused: its thread runs while event loops are blocked, and its requests leave signs if
/// the thread gets no processor.
///
/// The clock counts the time of a suspended machine, too (`CLOCK_BOOTTIME`). If the clocks of a virtual machine stand
/// still while it is paused, the pause cannot be noticed here.
final class PauseWatch: Sendable {
    /// The time without a sign from which on it is a pause.
    static let limit = Duration.seconds(3)
    /// The time after a pause in which the requests that begin may have waited.
    ///
    /// The event loops read within milliseconds what waits in the kernel. The rest is for a machine with much to do.
    static let settlingTime = Duration.seconds(2)
    /// The time between two signs of the thread.
    private static let interval = DispatchTimeInterval.milliseconds(500)

    /// The beginning of a request, as ``begin(at:)`` notes it.
    struct Beginning: Sendable {
        fileprivate let pauses: Int
        /// Whether the request may have waited during a pause before it was read.
        fileprivate let followsPause: Bool
    }

    private struct State {
        var lastSign: ContinuousClock.Instant
        /// The number of pauses.
        var pauses = 0
        /// The end of the time in which requests may have waited during the last pause.
        var settlesAt: ContinuousClock.Instant?
    }

    private let state: NIOLockedValueBox<State>
    private let logger: Logger

    init(logger: Logger, at now: ContinuousClock.Instant = .now) {
        self.logger = logger
        state = NIOLockedValueBox(State(lastSign: now))
    }

    /// Starts the thread that leaves signs, until the result is stopped.
    func start(at now: ContinuousClock.Instant = .now) -> Run {
        // Before this call, no thread has left signs.
        state.withLockedValue { $0.lastSign = now }
        let run = Run()
        let thread = Thread { [self] in
            while !run.isStopped(within: Self.interval) { sign(at: .now) }
        }
        thread.name = "pause watch"
        thread.start()
        return run
    }

    /// Leaves a sign that the process runs.
    func sign(at now: ContinuousClock.Instant) { _ = state(at: now) }

    /// Notes the beginning of a request.
    func begin(at now: ContinuousClock.Instant = .now) -> Beginning {
        let state = state(at: now)
        return Beginning(pauses: state.pauses, followsPause: state.settlesAt.map { now < $0 } ?? false)
    }

    /// Returns whether a request may have waited during a pause, before it was read or since then.
    func mayHaveWaited(_ request: Beginning, at now: ContinuousClock.Instant = .now) -> Bool {
        request.followsPause || state(at: now).pauses != request.pauses
    }

    /// Returns the state after a sign at a time.
    private func state(at now: ContinuousClock.Instant) -> State {
        let (state, pause) = state.withLockedValue { state -> (State, Duration?) in
            let silence = now - state.lastSign
            // Another thread may have taken its time earlier, and left its sign later.
            state.lastSign = max(state.lastSign, now)
            guard silence > Self.limit else { return (state, nil) }
            state.pauses += 1
            state.settlesAt = now + Self.settlingTime
            return (state, silence)
        }
        if let pause {
            logger.warning(
                "the process was paused; refused the requests that waited",
                metadata: ["seconds": "\(Int(pause / .seconds(1)))"])
        }
        return state
    }

    /// A thread that leaves signs.
    final class Run: Sendable {
        private let stopped = DispatchSemaphore(value: 0)

        /// Ends the thread.
        func stop() { stopped.signal() }

        fileprivate func isStopped(within time: DispatchTimeInterval) -> Bool {
            stopped.wait(timeout: .now() + time) == .success
        }
    }
}
