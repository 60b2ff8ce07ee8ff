@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilStore

/// The state of the store as this process finds it: whether it answers, and whether it takes commits.
///
/// The heartbeat and the check of the space decide whether the store takes commits. A request that meets a fault of the
/// store does not, because the cause can be a single slow answer. It lets the next heartbeat and a check of the space
/// come at once: on a full disk, a small commit can succeed for a long time, because it fits into space that a file has
/// already.
final class StoreCondition: Sendable {
    private struct State {
        /// Whether the last heartbeat or the last check of the space failed.
        var refusesCommits = false
        /// Whether the last check found space.
        var hadSpace = true
        /// Whether a request has met a fault since the last check of the space began.
        var isSuspect = false
        /// The time at which the commit of a heartbeat began that has not ended yet.
        var begun: ContinuousClock.Instant?
        /// The time at which the check of the space began that has not ended yet.
        var checkBegun: ContinuousClock.Instant?
        /// The time of the last answer, to a request, the heartbeat or a check of the readiness.
        var answered: ContinuousClock.Instant?
        var heartbeats = 0
        /// The time at which the last check of the space began that a fault of a request has caused.
        var spaceChecked: ContinuousClock.Instant?
        /// The rest of the pause before the next heartbeat.
        var pause: Task<Void, Never>?
        /// The read of the store that has not ended yet.
        var read: Task<Void, Never>?
        /// The fault of the last read.
        var fault: StoreFault?

        func isSpaceCheckDue(at now: ContinuousClock.Instant) -> Bool {
            isSuspect && spaceChecked.map { now - $0 >= StoreCondition.spaceCheckInterval } ?? true
        }
    }

    /// The time without an answer after which the store is unavailable.
    ///
    /// A store with much to do answers late. If that counted, each server would be taken out, and the others would get
    /// its load.
    private static let silenceLimit = RequestContext.timeLimit
    /// The shortest time between two heartbeats.
    private static let shortestPause = Duration.milliseconds(250)
    /// The shortest time between two checks of the space that faults of requests cause.
    ///
    /// Clients can cause some faults as often as they like.
    private static let spaceCheckInterval = Duration.seconds(10)
    /// The number of heartbeats after one of which the space is checked although nothing has failed.
    private static let heartbeatsPerCheck = 30

    private let state = Mutex(State())

    /// Returns whether the store refused the last heartbeat or had no space, or has not taken a heartbeat within the
    /// deadline of a request.
    func refusesCommits(at now: ContinuousClock.Instant) -> Bool {
        state.withLock { state in
            state.refusesCommits
                || [state.begun, state.checkBegun].contains { $0.map { now - $0 > RequestContext.timeLimit } ?? false }
        }
    }

    /// The fault of the last read of the store, or that of a read that is missing for too long.
    func fault(at now: ContinuousClock.Instant) -> StoreFault? {
        state.withLock { state in
            if let fault = state.fault { return fault }
            guard state.read != nil, state.answered.map({ now - $0 > Self.silenceLimit }) ?? true else { return nil }
            return .unavailable("no answer")
        }
    }

    /// Begins a read of the store, unless one has not ended yet; returns the one that runs.
    ///
    /// All checks of the readiness share it, and none ends it: the connection of a read that is cancelled is closed.
    func read(_ query: @escaping @Sendable () async throws(StoreFault) -> Void) -> Task<Void, Never> {
        state.withLock { state in
            if let read = state.read { return read }
            let read = Task.detached {
                var fault: StoreFault?
                do throws(StoreFault) {
                    try await query()
                } catch {
                    fault = error
                }
                self.endRead(fault, at: .now)
            }
            state.read = read
            return read
        }
    }

    func endRead(_ fault: StoreFault?, at now: ContinuousClock.Instant) {
        state.withLock { state in
            state.read = nil
            state.fault = fault
            if fault == nil { state.answered = now }
        }
    }

    /// Notes that the store answered a request.
    func noteAnswer(at now: ContinuousClock.Instant) { state.withLock { $0.answered = now } }

    /// Notes that a request met a fault of the store, and lets the next heartbeat come at once, at most once in
    /// ten seconds.
    func suspect(at now: ContinuousClock.Instant) {
        let pause: Task<Void, Never>? = state.withLock { state in
            guard !state.refusesCommits else { return nil }
            state.isSuspect = true
            return state.isSpaceCheckDue(at: now) ? state.pause : nil
        }
        pause?.cancel()
    }

    func beginHeartbeat(at now: ContinuousClock.Instant) { state.withLock { $0.begun = now } }

    /// Notes the end of a heartbeat.
    ///
    /// After one that was refused, only a check of the space finds that the store takes commits again.
    func endHeartbeat(isWritten: Bool, at now: ContinuousClock.Instant) {
        state.withLock { state in
            state.begun = nil
            if isWritten { state.answered = now } else { state.refusesCommits = true }
        }
    }

    /// Returns whether the space has to be checked after a heartbeat, and then notes the beginning of the check.
    ///
    /// While a check has not ended, none begins.
    func beginSpaceCheck(at now: ContinuousClock.Instant) -> Bool {
        state.withLock { state in
            guard state.checkBegun == nil else { return false }
            let isRegular = state.heartbeats.isMultiple(of: Self.heartbeatsPerCheck)
            state.heartbeats += 1
            let isDue = state.isSpaceCheckDue(at: now)
            guard state.refusesCommits || isRegular || isDue else { return false }
            state.checkBegun = now
            if isDue { state.spaceChecked = now }
            state.isSuspect = false
            return true
        }
    }

    func endSpaceCheck(hasSpace: Bool) {
        state.withLock { state in
            state.checkBegun = nil
            state.hadSpace = hasSpace
            state.refusesCommits = !hasSpace
        }
    }

    /// Whether the last check found space; true before the first one.
    var hadSpace: Bool { state.withLock(\.hadSpace) }

    /// Waits until the next heartbeat is due; ``suspect(at:)`` and the end of the task end the wait.
    func pause() async {
        _ = try? await Task.sleep(for: Self.shortestPause)
        let pause = Task { _ = try? await Task.sleep(for: Heartbeat.interval - Self.shortestPause) }
        let isDue = state.withLock { state in
            state.pause = pause
            return state.isSpaceCheckDue(at: .now)
        }
        if isDue { pause.cancel() }
        await withTaskCancellationHandler {
            await pause.value
        } onCancel: {
            pause.cancel()
        }
    }
}
