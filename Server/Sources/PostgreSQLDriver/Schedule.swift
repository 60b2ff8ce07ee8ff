import Dispatch
import NIOConcurrencyHelpers

/// The schedule of the threads of the connections, with the queue of the jobs that wait for them.
///
/// The thread that has become idle last gets the next job, so that a light load uses few connections.
final class Schedule: Sendable {
    /// The next step of a thread.
    enum Step {
        case run(Job)
        /// Opens a connection.
        case connect
        /// Closes its connection, which is too old or from before a failover.
        case disconnect
        /// Waits until it is woken, or at most until the given time; it may be woken without a reason.
        case wait(until: ContinuousClock.Instant?)
        case end
    }

    /// The situation of a thread that asks for its next step.
    struct Situation {
        let index: Int
        /// The failover count at which its connection was opened, and the end of its life; nil without a connection.
        var connection: (failovers: Int, end: ContinuousClock.Instant)?
        /// The time before which it does not try to connect again.
        var pauseEnd: ContinuousClock.Instant?
    }

    private let queueLimit: Int
    private let state: NIOLockedValueBox<ScheduleState>
    private let bells: [DispatchSemaphore]
    private let watchBell = DispatchSemaphore(value: 0)

    init(threads: Int, queueLimit: Int) {
        self.queueLimit = queueLimit
        state = NIOLockedValueBox(ScheduleState(running: threads))
        bells = (0..<threads).map { _ in DispatchSemaphore(value: 0) }
    }

    /// The reason for which requests are refused at once; nil if they are not.
    var outage: String? { state.withLockedValue { $0.outage } }

    /// The number of jobs that wait for a connection.
    var waitingCount: Int { state.withLockedValue { $0.jobs.count } }

    /// Whether new jobs are refused.
    var isClosed: Bool { state.withLockedValue { $0.isClosed } }

    var openConnections: Int { state.withLockedValue { $0.openConnections } }

    /// Adds a job to the queue, or refuses it at once.
    ///
    /// - Parameters:
    ///   - job: The job.
    ///   - isAccepted: Whether the job is for requests that were accepted earlier, so that closing waits for it.
    func submit(_ job: Job, isAccepted: Bool = false) {
        enum Outcome {
            case refused(Job.Refusal)
            case queued(wake: Int?, watch: Bool)
        }
        let outcome: Outcome = state.withLockedValue { state in
            if state.isClosed && !(isAccepted && state.running > 0 && !state.hasGivenUp) { return .refused(.closed) }
            if let reason = state.outage, job.unconfirmed == nil { return .refused(.outage(reason: reason)) }
            if state.jobs.count >= queueLimit { return .refused(.crowded(limit: queueLimit)) }
            state.jobs.append(job)
            let wake = state.threadToWake()
            return .queued(wake: wake?.index, watch: wake?.isConnected != true && state.mustWatch(job))
        }
        switch outcome {
        case .refused(let refusal): job.refuse(refusal)
        case .queued(let thread, let watch):
            if let thread { bells[thread].signal() }
            if watch { watchBell.signal() }
        }
    }

    /// Returns what a thread does next, and notes that it does it.
    func next(_ situation: Situation) -> Step {
        let now = ContinuousClock.now
        // The jobs for which this thread was woken wait for a new connection.
        var mustWatch = false
        let (step, expired): (Step, [Job]) = state.withLockedValue { state in
            let index = situation.index
            state.idle.removeAll { $0 == index }
            state.unconnected.removeAll { $0 == index }
            if state.isClosed && (state.jobs.isEmpty || state.outage != nil) {
                state.running -= 1
                if let connection = situation.connection { state.disconnected(connection.failovers) }
                return (.end, [])
            }
            guard let connection = situation.connection else {
                return (state.nextWithoutConnection(index, pauseEnd: situation.pauseEnd ?? now, now: now), [])
            }
            guard connection.failovers == state.failovers, connection.end > now else {
                state.disconnected(connection.failovers)
                mustWatch = !state.jobs.isEmpty
                return (.disconnect, [])
            }
            var expired: [Job] = []
            while let job = state.jobs.popFirst() {
                if job.deadline > now + Job.leastTime { return (.run(job), expired) }
                expired.append(job)
            }
            state.idle.append(index)
            // After closing, no bell rings for the end of the last job. The expired jobs can be followed by others.
            return (.wait(until: state.isClosed ? now : connection.end), expired)
        }
        if mustWatch { watchBell.signal() }
        for job in expired { job.refuse(.expired) }
        if case .end = step { reportEnd() }
        return step
    }

    /// Waits as ``next(_:)`` has said.
    func wait(_ index: Int, until end: ContinuousClock.Instant?) {
        if let end {
            _ = bells[index].wait(timeout: .now() + .nanoseconds(end.nanosecondsFromNow))
        } else {
            bells[index].wait()
        }
    }

    /// Notes that a thread has opened a connection, and returns the number of failovers so far.
    func connected(_ index: Int) -> Int {
        let (failovers, wake) = state.withLockedValue { state in
            state.openConnections += 1
            state.outage = nil
            state.attempting.remove(index)
            state.failures = 0
            state.scout = nil
            // This thread takes the first job itself, so it still counts as connecting.
            defer { state.connecting.remove(index) }
            return (state.failovers, state.threadToWake())
        }
        if let wake { bells[wake.index].signal() }
        return failovers
    }

    /// Notes that a thread cannot connect; without another connection, all waiting jobs are refused.
    ///
    /// If other threads are connecting, they decide: a server that has few connections left refuses only some of them.
    func failedToConnect(_ index: Int, reason: String) {
        let refused = state.withLockedValue { state in
            state.connecting.remove(index)
            state.attempting.remove(index)
            state.failures += 1
            guard state.openConnections == 0, state.attempting.isEmpty || state.failures >= bells.count else {
                return [Job]()
            }
            state.outage = reason
            if state.scout == nil { state.scout = index }
            return state.jobs.removeAll { $0.unconfirmed == nil || state.isClosed }
        }
        for job in refused { job.refuse(.outage(reason: reason)) }
    }

    /// Notes that a thread has lost or closed its connection, which was opened at a number of failovers.
    func disconnected(_ failovers: Int) { state.withLockedValue { $0.disconnected(failovers) } }

    /// Makes every connection end before its next use that was opened at a number of failovers or before.
    func dropConnections(_ failovers: Int) {
        let idle: [Int] = state.withLockedValue { state in
            // Another connection may have noticed the same failover.
            guard failovers == state.failovers else { return [] }
            state.failovers += 1
            state.openConnections = 0
            defer { state.idle = [] }
            return state.idle
        }
        for index in idle { bells[index].signal() }
    }

    /// Queues a job again, before all others, or refuses it.
    func resubmit(_ job: Job, after end: Job.End) {
        var job = job
        var reason = ""
        switch end {
        case .answered: return
        case .again(let cause): reason = cause
        case .unknown(let cause):
            reason = cause
            job.unconfirmed = job.unconfirmed ?? cause
            guard job.isRepeatable else { return job.refuse(.lost(reason: cause)) }
        }
        job.tries += 1
        guard job.deadline > .now, job.tries < Job.triesLimit else { return job.refuse(.lost(reason: reason)) }
        putBack(job)
    }

    /// Queues a job again, before all others.
    func putBack(_ job: Job) {
        let (refusal, wake, watch): (Job.Refusal?, Int?, Bool) = state.withLockedValue { state in
            if state.hasGivenUp { return (.closed, nil, false) }
            if let reason = state.outage, job.unconfirmed == nil { return (.outage(reason: reason), nil, false) }
            state.jobs.prepend(job)
            let wake = state.threadToWake()
            return (nil, wake?.index, state.mustWatch(job))
        }
        if let refusal { return job.refuse(refusal) }
        if let wake { bells[wake].signal() }
        if watch { watchBell.signal() }
    }

    /// Refuses new jobs, and resumes the continuation when all threads have ended.
    ///
    /// Returns false if the schedule was closed before; the continuation is then resumed at once.
    func close(_ continuation: CheckedContinuation<Void, Never>) -> Bool {
        let (isFirst, isEnded) = state.withLockedValue { state in
            let isFirst = !state.isClosed
            state.isClosed = true
            if isFirst && state.running > 0 { state.whenEnded = continuation }
            return (isFirst, state.running == 0)
        }
        if !isFirst || isEnded { continuation.resume() }
        ringAll()
        return isFirst
    }

    /// Refuses the jobs that still wait and those that come back later, and resumes the caller of `close`.
    func giveUpClosing() {
        let (jobs, continuation) = state.withLockedValue { state in
            state.hasGivenUp = true
            defer { state.whenEnded = nil }
            return (state.jobs.removeAll { _ in true }, state.whenEnded)
        }
        for job in jobs { job.refuse(.closed) }
        continuation?.resume()
    }

    /// Refuses the jobs whose deadline has passed, and sleeps until the next deadline; returns false after the end.
    func watchDeadlines() -> Bool {
        let (expired, next, hasEnded) = state.withLockedValue { state in
            let now = ContinuousClock.now
            let expired = state.jobs.removeAll { $0.deadline <= now }
            state.watchedUntil = state.jobs.firstDeadline
            return (expired, state.watchedUntil, state.isClosed && state.running == 0)
        }
        for job in expired { job.refuse(.expired) }
        guard !hasEnded else { return false }
        if let next {
            _ = watchBell.wait(timeout: .now() + .nanoseconds(next.nanosecondsFromNow))
        } else {
            watchBell.wait()
        }
        return true
    }

    private func reportEnd() {
        if state.withLockedValue({ $0.running == 0 }) { giveUpClosing() }
        ringAll()
    }

    private func ringAll() {
        for bell in bells { bell.signal() }
        watchBell.signal()
    }
}

extension ContinuousClock.Instant {
    /// The time from now until this instant, at least 0.
    fileprivate var nanosecondsFromNow: Int {
        let left = min(max(self - .now, .zero), .seconds(86_400))
        return Int(left / .nanoseconds(1))
    }
}
