/// A request that waits for a connection, or is under way on one.
struct Job: Sendable {
    /// The end of a job on a connection.
    enum End {
        /// The caller has its result.
        case answered
        /// Nothing was changed, and another connection may try again.
        case again(reason: String)
        /// The server may have committed.
        case unknown(reason: String)
    }

    /// The reason for which a job is given back without a result.
    enum Refusal {
        /// No connection was free before the deadline.
        case expired
        /// The database does not answer.
        case outage(reason: String)
        /// Too many requests wait.
        case crowded(limit: Int)
        case closed
        /// Each connection that tried was lost.
        case lost(reason: String)

        var reason: String {
            switch self {
            case .expired: "no connection to the database was free before the deadline"
            case .outage(let reason): "no connection to the database: \(reason)"
            case .crowded(let limit): "the queue for the database is full (\(limit) requests)"
            case .closed: "the connections to the database are closed"
            case .lost(let reason): "the connection to the database was lost: \(reason)"
            }
        }
    }

    /// The time until which the caller waits.
    let deadline: ContinuousClock.Instant
    /// Whether the job can be sent again though it may have been carried out: it only reads, or contains a mark.
    let isRepeatable: Bool
    /// Carries out the job on the thread of a connection; resumes the caller only if it returns `answered`.
    let run: @Sendable (Connection, _ unconfirmed: String?) -> End
    /// Resumes the caller with a fault.
    let refuse: @Sendable (Refusal, _ unconfirmed: String?) -> Void
    /// The number of connections that have tried.
    var tries = 0
    /// The reason for which the result of an earlier try is unknown.
    ///
    /// Such a job waits until its deadline, also while the database does not answer.
    var unconfirmed: String?

    /// The maximum number of connections that try.
    ///
    /// A repetition is for a fault of one connection, or for connections that a failover has made useless. Such
    /// connections are found without a try unless the server has vanished.
    static let triesLimit = 3

    /// The time that must be left when a job is sent.
    ///
    /// With less, the answer would hardly come in time. Under overload, every such job would cost a connection.
    static let leastTime = Duration.milliseconds(100)

    func refuse(_ refusal: Refusal) { refuse(refusal, unconfirmed) }
}

extension DatabaseFault {
    /// The fault of a job that was given back.
    init(_ refusal: Job.Refusal, unconfirmed: String?) {
        self = unconfirmed.map { .unconfirmed($0) } ?? .unavailable(refusal.reason)
    }
}

/// The jobs that wait, in the order of their arrival.
struct JobQueue {
    private var jobs: [Job] = []
    private var head = 0

    var count: Int { jobs.count - head }
    var isEmpty: Bool { count == 0 }

    mutating func append(_ job: Job) { jobs.append(job) }

    /// Puts a job back before all others.
    mutating func prepend(_ job: Job) {
        if head > 0 {
            head -= 1
            jobs[head] = job
        } else {
            jobs.insert(job, at: 0)
        }
    }

    mutating func popFirst() -> Job? {
        guard head < jobs.count else { return nil }
        let job = jobs[head]
        head += 1
        if head == jobs.count {
            jobs.removeAll(keepingCapacity: true)
            head = 0
        } else if head >= 64 && head * 2 >= jobs.count {
            jobs.removeFirst(head)
            head = 0
        }
        return job
    }

    /// Removes the jobs that match, and returns them.
    mutating func removeAll(where matches: (Job) -> Bool) -> [Job] {
        let waiting = jobs[head...]
        let removed = waiting.filter(matches)
        guard !removed.isEmpty else { return [] }
        jobs = waiting.filter { !matches($0) }
        head = 0
        return removed
    }

    /// The earliest deadline of a waiting job.
    var firstDeadline: ContinuousClock.Instant? { jobs[head...].map(\.deadline).min() }
}
