/// The state of a schedule, which its lock protects.
struct ScheduleState {
    var jobs = JobQueue()
    /// The threads that wait with a connection, and those that wait without one; each ends with the latest.
    var idle: [Int] = []
    var unconnected: [Int] = []
    /// The threads that were woken to connect, or are connecting.
    var connecting: Set<Int> = []
    /// Those of them that do not pause.
    var attempting: Set<Int> = []
    /// The number of attempts to connect that have failed since the last one that succeeded.
    var failures = 0
    /// The number of connections, without those from before the last failover.
    var openConnections = 0
    /// The reason of the last failure to connect, while no connection is open.
    var outage: String?
    /// The one thread that tries to connect during an outage.
    var scout: Int?
    /// The number of times that every connection has become useless.
    var failovers = 0
    var isClosed = false
    /// Whether closing no longer waits for jobs.
    var hasGivenUp = false
    var running: Int
    var whenEnded: CheckedContinuation<Void, Never>?
    /// The time until which the watch of the deadlines sleeps; nil if it sleeps until it is woken.
    var watchedUntil: ContinuousClock.Instant?

    init(running: Int) { self.running = running }

    /// A thread that was taken from its list, to be woken.
    struct Woken {
        let index: Int
        let isConnected: Bool
    }

    /// Chooses the thread for a job that was queued; nil if all that can help are awake.
    mutating func threadToWake() -> Woken? {
        guard !jobs.isEmpty else { return nil }
        if let index = idle.popLast() { return Woken(index: index, isConnected: true) }
        guard outage == nil, jobs.count > connecting.count, let index = unconnected.popLast() else { return nil }
        connecting.insert(index)
        return Woken(index: index, isConnected: false)
    }

    /// Notes that a connection has ended which was opened at a number of failovers.
    mutating func disconnected(_ failovers: Int) {
        if failovers == self.failovers { openConnections -= 1 }
    }

    /// Returns true if the watch has to be woken for the deadline of a job that waits.
    func mustWatch(_ job: Job) -> Bool { watchedUntil.map { job.deadline < $0 } ?? true }

    /// Returns what a thread without a connection does next.
    mutating func nextWithoutConnection(
        _ index: Int, pauseEnd: ContinuousClock.Instant, now: ContinuousClock.Instant
    ) -> Schedule.Step {
        let mayConnect: Bool
        if outage != nil {
            scout = scout ?? index
            mayConnect = scout == index
        } else {
            mayConnect = !jobs.isEmpty && (connecting.contains(index) || jobs.count > connecting.count)
        }
        guard mayConnect else {
            connecting.remove(index)
            unconnected.append(index)
            return .wait(until: nil)
        }
        connecting.insert(index)
        guard pauseEnd <= now else { return .wait(until: pauseEnd) }
        attempting.insert(index)
        return .connect
    }
}
