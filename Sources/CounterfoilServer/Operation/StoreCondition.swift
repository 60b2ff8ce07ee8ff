import CounterfoilProtocol

/// The state of the store as this process finds it: whether it answers, and whether it takes commits.
///
/// The heartbeat decides whether the store takes commits. A request that meets a fault of the store does not, because
/// the cause can be a single slow answer. It lets the next heartbeat come at once, and that heartbeat takes up space:
/// on a full disk, a small commit can succeed for a long time, because it fits into space that a file has already.
final class StoreCondition: Sendable {
    private struct State {
        /// Whether the last heartbeat failed.
        var refusesCommits = false
        /// Whether a request has met a fault since the last heartbeat began.
        var isDoubted = false
        /// The time at which the heartbeat began that has not ended yet.
        var begun: ContinuousClock.Instant?
        /// The time of the last answer.
        var answered: ContinuousClock.Instant?
        var heartbeats = 0
        /// The rest of the pause before the next heartbeat.
        var pause: Task<Void, Never>?
    }

    /// The time without an answer after which the store is unavailable.
    ///
    /// A store with much to do answers late. If that counted, each server would be taken out, and the others would get
    /// its load.
    private static let silenceLimit = Duration.seconds(3)
    /// The shortest time between two heartbeats.
    private static let shortestPause = Duration.milliseconds(250)
    /// The number of heartbeats of which one takes up space although nothing has failed.
    private static let heartbeatsPerCheck = 30

    private let state = Mutex(State())

    /// Returns whether the store refused the last heartbeat, or has not taken it within the deadline of a request.
    func refusesCommits(at now: ContinuousClock.Instant) -> Bool {
        state.withLock { state in
            state.refusesCommits || state.begun.map { now - $0 > RequestDeadline.limit } ?? false
        }
    }

    /// Returns whether the store has answered so recently that an answer that is missing counts as late.
    func hasAnswered(at now: ContinuousClock.Instant) -> Bool {
        state.withLock { $0.answered.map { now - $0 <= Self.silenceLimit } ?? false }
    }

    func noteAnswer(at now: ContinuousClock.Instant) { state.withLock { $0.answered = now } }

    /// Notes that a request met a fault of the store, and lets the next heartbeat come at once.
    func doubt() {
        let pause: Task<Void, Never>? = state.withLock { state in
            guard !state.refusesCommits else { return nil }
            state.isDoubted = true
            return state.pause
        }
        pause?.cancel()
    }

    /// Notes the beginning of a heartbeat, and returns whether it has to take up space.
    func beginHeartbeat(at now: ContinuousClock.Instant) -> Bool {
        state.withLock { state in
            defer {
                state.begun = now
                state.isDoubted = false
                state.heartbeats += 1
            }
            return state.refusesCommits || state.isDoubted
                || state.heartbeats.isMultiple(of: Self.heartbeatsPerCheck)
        }
    }

    /// Notes the end of a heartbeat.
    func endHeartbeat(isWritten: Bool, at now: ContinuousClock.Instant) {
        state.withLock { state in
            state.begun = nil
            state.refusesCommits = !isWritten
            if isWritten { state.answered = now }
        }
    }

    /// Waits until the next heartbeat is due; ``doubt()`` and the end of the task end the wait.
    func pause() async {
        _ = try? await Task.sleep(for: Self.shortestPause)
        let pause = Task { _ = try? await Task.sleep(for: Heartbeat.interval - Self.shortestPause) }
        let isDoubted = state.withLock { state in
            state.pause = pause
            return state.isDoubted
        }
        if isDoubted { pause.cancel() }
        await withTaskCancellationHandler {
            await pause.value
        } onCancel: {
            pause.cancel()
        }
    }
}
