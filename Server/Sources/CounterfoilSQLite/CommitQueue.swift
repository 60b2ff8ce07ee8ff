@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilSQL
import CounterfoilStore
import GRDB

/// The queue through which all writes go: waiting commits share one transaction and one sync to the disk.
///
/// A batch is one transaction with a savepoint for each commit, so a commit that fails rolls back only its
/// own writes. A caller gets its outcome after the transaction of its batch is on the disk, and never before.
final class CommitQueue: Sendable {
    /// The size in bytes to which SQLite truncates the WAL file after a checkpoint (`journal_size_limit`).
    ///
    /// If the WAL file is larger than four times this size, the queue runs a checkpoint itself.
    static let logSizeLimit = 16 << 20
    /// The maximum number of commits in one transaction.
    ///
    /// It keeps the transaction short, so that other processes can write in between.
    private static let batchLimit = 512
    /// The number of batches between two checks of the WAL size.
    private static let batchesBetweenSizeChecks = 256
    /// The time for which a checkpoint of a large WAL waits for readers.
    private static let checkpointPatience = Duration.milliseconds(20)
    /// The time after a checkpoint that readers have prevented, before the next one.
    private static let checkpointPause = Duration.seconds(10)

    private struct PendingCommit: Sendable {
        /// Performs the write and returns a closure that reports its outcome to the caller.
        ///
        /// The queue calls the closure when the transaction is on the disk.
        let write: @Sendable (SQLConnection) throws -> @Sendable () -> Void
        /// Reports to the caller that the commit failed.
        let refuse: @Sendable (StoreFault) -> Void
    }

    private struct State {
        var pending: [PendingCommit] = []
        var isWriting = false
        var isClosed = false
        var batches = 0
        /// The time at which readers last prevented a checkpoint; nil if the last one was complete.
        var prevented: ContinuousClock.Instant?
        /// The continuations that wait until the writer thread is idle.
        var whenIdle: [CheckedContinuation<Void, Never>] = []
    }

    /// The durations, faults and batches of the store.
    let meter = StoreMeter()
    private let pool: DatabasePool
    private let pendingLimit: Int
    private let state = Mutex(State())

    /// Creates the queue for the writer connection of a pool; a commit is refused while `pendingLimit` commits wait.
    init(_ pool: DatabasePool, pendingLimit: Int = 10_000) {
        self.pool = pool
        self.pendingLimit = pendingLimit
    }

    /// The number of commits that wait for the writer thread.
    var pendingCount: Int { state.withLock { $0.pending.count } }

    /// Whether the writer thread is writing a batch.
    var isWriting: Bool { state.withLock { $0.isWriting } }

    /// Commits one atomic write and returns its outcome once it is on the disk.
    ///
    /// The commit completes even if the caller's task is cancelled, so the caller always learns the actual outcome.
    func commit<Outcome: Sendable>(
        _ write: @escaping @Sendable (SQLConnection) throws -> Outcome
    ) async throws(StoreFault) -> Outcome {
        let result: Result<Outcome, StoreFault> = await withCheckedContinuation { continuation in
            enqueue(
                PendingCommit(
                    write: { database in
                        let outcome = try write(database)
                        return { continuation.resume(returning: .success(outcome)) }
                    },
                    refuse: { continuation.resume(returning: .failure($0)) }
                )
            )
        }
        return try result.get()
    }

    /// Refuses new commits and returns when all waiting commits are done.
    func finish() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                state.isClosed = true
                if state.isWriting { state.whenIdle.append(continuation) }
                return !state.isWriting
            }
            if isIdle { continuation.resume() }
        }
    }

    private func enqueue(_ commit: PendingCommit) {
        let startsWriter: Result<Bool, StoreFault> = state.withLock { state in
            guard !state.isClosed else { return .failure(.unavailable("the store is closed")) }
            guard state.pending.count < pendingLimit else {
                return .failure(.unavailable("the commit queue is full (\(pendingLimit) commits)"))
            }
            state.pending.append(commit)
            defer { state.isWriting = true }
            return .success(!state.isWriting)
        }
        switch startsWriter {
        case .success(false): break
        // The writer thread is started after the lock is released, because that thread needs the lock immediately.
        case .success(true): startWriter()
        case .failure(let fault): commit.refuse(fault)
        }
    }

    private func startWriter() {
        pool.asyncWriteWithoutTransaction { database in
            while let batch = self.nextBatch() { self.write(batch, in: database) }
        }
    }

    /// Returns the next batch.
    ///
    /// If no commit waits, returns nil and marks the writer thread as idle.
    private func nextBatch() -> [PendingCommit]? {
        let (batch, whenIdle) = state.withLock { state in
            let batch = Array(state.pending.prefix(Self.batchLimit))
            state.pending.removeFirst(batch.count)
            guard batch.isEmpty else { return (batch, [CheckedContinuation<Void, Never>]()) }
            state.isWriting = false
            defer { state.whenIdle = [] }
            return (batch, state.whenIdle)
        }
        for continuation in whenIdle { continuation.resume() }
        return batch.isEmpty ? nil : batch
    }

    private func write(_ batch: [PendingCommit], in database: Database) {
        meter.noteBatch(of: batch.count)
        var isCommitting = false
        let connection = database.connection
        do {
            _ = try connection.run("BEGIN IMMEDIATE")
            // A single commit needs no savepoint: if it fails, the whole transaction is rolled back.
            let isSingle = batch.count == 1
            let answers = try batch.map { commit in
                isSingle ? try commit.write(connection) : try write(commit, in: database)
            }
            isCommitting = true
            _ = try connection.run("COMMIT")
            for answer in answers { answer() }
        } catch {
            // SQLite may have rolled the transaction back itself.
            if database.isInsideTransaction { _ = try? connection.run("ROLLBACK") }
            let fault = isCommitting ? StoreFault(ofCommit: error) : StoreFault(error)
            for commit in batch { commit.refuse(fault) }
        }
        checkpointIfLarge(database)
    }

    /// Writes one commit of a batch and returns the closure that reports its outcome; throws only if the whole
    /// transaction fails.
    private func write(_ commit: PendingCommit, in database: Database) throws -> @Sendable () -> Void {
        let connection = database.connection
        _ = try connection.run("SAVEPOINT one_commit")
        do {
            let answer = try commit.write(connection)
            _ = try connection.run("RELEASE one_commit")
            return answer
        } catch {
            // Some errors, such as a full disk, can make SQLite roll back the whole transaction.
            guard database.isInsideTransaction else { throw error }
            _ = try connection.run("ROLLBACK TO one_commit")
            _ = try connection.run("RELEASE one_commit")
            let fault = StoreFault(error)
            return { commit.refuse(fault) }
        }
    }

    /// Checkpoints and truncates a large WAL, because overlapping readers can prevent SQLite's automatic checkpoints
    /// from finishing.
    ///
    /// While a long read prevents this one, too, such as that of a copy, commits rarely wait for an attempt.
    private func checkpointIfLarge(_ database: Database) {
        let isDue = state.withLock { state in
            state.batches += 1
            return state.batches.isMultiple(of: Self.batchesBetweenSizeChecks)
                && state.prevented.map { .now - $0 >= Self.checkpointPause } ?? true
        }
        guard isDue, DatabaseFileKind.size(ofFileAt: pool.path + "-wal") > 4 * Self.logSizeLimit else { return }
        let isDone = database.truncateLog(waiting: Self.checkpointPatience)
        state.withLock { $0.prevented = isDone ? nil : .now }
    }
}
