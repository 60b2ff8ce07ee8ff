import NIOConcurrencyHelpers

/// A kind of commit of which several can be carried out by the same statements, with arrays as parameters.
package protocol BatchedCommit: Sendable {
    associatedtype Outcome: Sendable

    /// The key of the row that the commit changes.
    ///
    /// A batch is sorted by it, so that two batches lock their rows in the same order. It contains each key once: with
    /// one row twice, an UPDATE would take only one of the two.
    var key: [UInt8] { get }

    /// Returns the statements of one transaction for all commits of a batch.
    static func statements(for batch: [Self]) -> [Statement]

    /// Returns the outcome of each commit, in the order of the batch.
    ///
    /// It runs after the commit. The statements return the place of each row in the arrays, as by `WITH ORDINALITY`.
    static func outcomes(of batch: [Self], from rows: [Rows]) throws -> [Outcome]
}

/// The commits of one kind that wait; those that wait at the same time share a transaction and a flush of the WAL.
package final class CommitBatcher<Commit: BatchedCommit>: Sendable {
    private struct Waiting: Sendable {
        let commit: Commit
        let deadline: ContinuousClock.Instant
        let isRepeatable: Bool
        let continuation: CheckedContinuation<Result<Commit.Outcome, any Error>, Never>
        var tries = 0
        var unconfirmed: String?

        func resume(with error: any Error) {
            continuation.resume(returning: .failure(unconfirmed.map(DatabaseFault.unconfirmed) ?? error))
        }
    }

    /// The commits that wait for a batch, and the batches of them.
    private struct Queue {
        var waiting: [Waiting] = []
        /// The batches that wait for a connection, and those that are under way.
        var queued = 0
        var underWay = 0
    }

    /// Commits whose result is unknown have batches of their own, because only these wait for the end of an outage.
    private enum Kind: CaseIterable {
        case ordinary, unconfirmed
    }

    private struct State {
        private var ordinary = Queue()
        private var unconfirmed = Queue()

        subscript(kind: Kind) -> Queue {
            get { kind == .ordinary ? ordinary : unconfirmed }
            _modify {
                switch kind {
                case .ordinary: yield &ordinary
                case .unconfirmed: yield &unconfirmed
                }
            }
        }

        var waitingCount: Int { ordinary.waiting.count + unconfirmed.waiting.count }
    }

    private let threads: ConnectionThreads
    private let batchLimit: Int
    private let batchesLimit: Int
    private let waitingLimit: Int
    private let state = NIOLockedValueBox(State())

    /// Creates a queue for one kind of commit.
    ///
    /// - Parameters:
    ///   - threads: The connections.
    ///   - batchLimit: The maximum number of commits in one transaction.
    ///   - batchesLimit: The maximum number of transactions at a time. While they are under way, the next batch grows.
    ///     Commits that are sent again because their result is unknown have the same number in addition.
    package init(_ threads: ConnectionThreads, batchLimit: Int = 32, batchesLimit: Int = 2) {
        self.threads = threads
        self.batchLimit = batchLimit
        self.batchesLimit = batchesLimit
        waitingLimit = threads.settings.queueLimit
    }

    /// The number of commits that wait for a batch.
    package var waitingCount: Int { state.withLockedValue { $0.waitingCount } }

    /// Commits together with others of this kind, and returns the outcome.
    ///
    /// - Parameters:
    ///   - commit: What to commit. It may be sent several times.
    ///   - deadline: As for `ConnectionThreads.commit`.
    ///   - isRepeatable: As for `ConnectionThreads.commit`.
    package func commit(
        _ commit: Commit, by deadline: ContinuousClock.Instant? = nil, isRepeatable: Bool = false
    ) async throws -> Commit.Outcome {
        let deadline = deadline ?? ConnectionThreads.deadline
        let result: Result<Commit.Outcome, any Error> = await withCheckedContinuation { continuation in
            add(Waiting(commit: commit, deadline: deadline, isRepeatable: isRepeatable, continuation: continuation))
        }
        return try result.get()
    }

    private func add(_ new: Waiting) {
        if threads.schedule.isClosed { return new.resume(with: DatabaseFault(.closed, unconfirmed: nil)) }
        // During an outage, only commits with an unknown result wait.
        if let reason = threads.schedule.outage {
            return new.resume(with: DatabaseFault(.outage(reason: reason), unconfirmed: nil))
        }
        let isAdded = state.withLockedValue { state in
            guard state.waitingCount < waitingLimit else { return false }
            state[.ordinary].waiting.append(new)
            return true
        }
        guard isAdded else { return new.resume(with: DatabaseFault(.crowded(limit: waitingLimit), unconfirmed: nil)) }
        submitBatch(.ordinary)
    }

    /// Asks for a connection for the commits that wait, unless enough batches are under way.
    ///
    /// Which commits belong to the batch is decided when a connection is free.
    private func submitBatch(_ kind: Kind) {
        let first: (deadline: ContinuousClock.Instant, unconfirmed: String?)? = state.withLockedValue { state in
            let line = state[kind]
            // A queued batch takes all that wait when its turn comes.
            guard line.queued + line.underWay < batchesLimit, line.waiting.count > line.queued * batchLimit,
                let deadline = line.waiting.map(\.deadline).min()
            else { return nil }
            state[kind].queued += 1
            return (deadline, line.waiting.lazy.compactMap(\.unconfirmed).first)
        }
        guard let first else { return }
        threads.schedule.submit(
            Job(
                deadline: first.deadline, isRepeatable: true,
                run: { connection, _ in self.run(kind, on: connection) },
                refuse: { refusal, _ in self.refuse(kind, refusal) }, unconfirmed: first.unconfirmed),
            // `close` waits for the commits that were accepted before it.
            isAccepted: true)
    }

    private func run(_ kind: Kind, on connection: Connection) -> Job.End {
        let batch = takeBatch(kind)
        if !batch.isEmpty { run(batch, on: connection) }
        state.withLockedValue { $0[kind].underWay -= 1 }
        for kind in Kind.allCases { submitBatch(kind) }
        return .answered
    }

    /// Takes the commits of the next batch, sorted by key, and refuses those whose deadline is too near.
    private func takeBatch(_ kind: Kind) -> [Waiting] {
        let (batch, expired): ([Waiting], [Waiting]) = state.withLockedValue { state in
            // The deadline of a batch is the earliest of its commits. A commit that has almost no time left would make
            // the outcome of all others unknown.
            let limit = ContinuousClock.now + Job.leastTime
            var keys: Set<[UInt8]> = []
            var batch: [Waiting] = []
            var expired: [Waiting] = []
            var rest: [Waiting] = []
            for waiting in state[kind].waiting {
                if waiting.deadline <= limit {
                    expired.append(waiting)
                } else if batch.count < batchLimit, keys.insert(waiting.commit.key).inserted {
                    batch.append(waiting)
                } else {
                    rest.append(waiting)
                }
            }
            state[kind].waiting = rest
            state[kind].queued -= 1
            state[kind].underWay += 1
            return (batch, expired)
        }
        for waiting in expired { waiting.resume(with: DatabaseFault(.expired, unconfirmed: nil)) }
        return batch.sorted { $0.commit.key.lexicographicallyPrecedes($1.commit.key) }
    }

    private func run(_ batch: [Waiting], on connection: Connection) {
        guard let deadline = batch.map(\.deadline).min() else { return }
        let commits = batch.map(\.commit)
        let end = connection.attempt(Commit.statements(for: commits), by: deadline) { rows in
            let outcomes = try Commit.outcomes(of: commits, from: rows)
            guard outcomes.count == commits.count else {
                throw DatabaseFault.failed("a gathered statement has \(outcomes.count) outcomes for \(commits.count)")
            }
            return outcomes
        }
        switch end {
        case .success(let outcomes):
            for (waiting, outcome) in zip(batch, outcomes) { waiting.continuation.resume(returning: .success(outcome)) }
        case .failed(DatabaseFault.failed) where batch.count > 1:
            // One commit violates a rule of the database. The others must not fail with it.
            for waiting in batch { run([waiting], on: connection) }
        case .failed(let error):
            for waiting in batch { waiting.resume(with: error) }
        case .again(let reason):
            repeatLater(batch, unconfirmed: nil, reason)
        case .unknown(let reason):
            repeatLater(batch, unconfirmed: reason, reason)
        }
    }

    /// Lets the commits of a batch wait again that can be sent again, and refuses the others.
    private func repeatLater(_ batch: [Waiting], unconfirmed: String?, _ reason: String) {
        var again: [Waiting] = []
        for var waiting in batch {
            waiting.tries += 1
            waiting.unconfirmed = waiting.unconfirmed ?? unconfirmed
            let mayRepeat = waiting.isRepeatable || waiting.unconfirmed == nil
            if mayRepeat && waiting.tries < Job.triesLimit && waiting.deadline > .now {
                again.append(waiting)
            } else {
                waiting.resume(with: DatabaseFault(.lost(reason: reason), unconfirmed: nil))
            }
        }
        let (ordinary, unknown) = (again.filter { $0.unconfirmed == nil }, again.filter { $0.unconfirmed != nil })
        state.withLockedValue { state in
            state[.ordinary].waiting.insert(contentsOf: ordinary, at: 0)
            state[.unconfirmed].waiting.insert(contentsOf: unknown, at: 0)
        }
    }

    /// Refuses the commits that wait, because there was no connection for their batch.
    private func refuse(_ kind: Kind, _ refusal: Job.Refusal) {
        let refused = state.withLockedValue { state in
            state[kind].queued -= 1
            let now = ContinuousClock.now
            let limit = now + Job.leastTime
            func isRefused(_ waiting: Waiting) -> Bool {
                switch refusal {
                case .expired: waiting.deadline <= limit
                // Commits whose result is unknown wait for the end of the outage.
                case .outage: waiting.unconfirmed == nil || waiting.deadline <= now
                case .crowded, .closed, .lost: true
                }
            }
            let refused = state[kind].waiting.filter(isRefused)
            state[kind].waiting.removeAll(where: isRefused)
            return refused
        }
        for waiting in refused { waiting.resume(with: DatabaseFault(refusal, unconfirmed: nil)) }
        submitBatch(kind)
    }
}
