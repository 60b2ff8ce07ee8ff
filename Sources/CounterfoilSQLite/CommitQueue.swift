import CounterfoilServer
import GRDB
import GRDBSQLite
import Synchronization

/// The queue through which all writes go: waiting commits share one transaction and one sync to the disk.
///
/// A batch is one transaction with a savepoint for each commit, so a commit that fails rolls back only its
/// own writes. A caller gets its outcome after the transaction of its batch is on the disk, and never before.
/// Without contention, a small commit to a quick disk is an inline commit, on the caller's thread. Switching
/// to the writer thread and back would take a tenth of the whole request.
final class CommitQueue: Sendable {
    /// The size in bytes to which SQLite truncates the WAL file after a checkpoint (`journal_size_limit`).
    ///
    /// Beyond four times this size, the queue forces a checkpoint.
    static let logSizeLimit = 16 << 20
    /// The most commits in one transaction, so that other processes get their turn to write.
    private static let batchLimit = 512
    /// The number of batches between two checks of the WAL size.
    private static let batchesBetweenLooks = 256
    /// The number of inline commits after which one goes to the writer thread, which runs the WAL checkpoint
    /// when due.
    private static let commitsInPlaceBetweenFolds = 256
    /// The number of WAL pages from which a commit runs a checkpoint (`wal_autocheckpoint`); SQLite's default.
    private static let foldingThreshold: Int32 = 1000

    /// The amount that a commit writes.
    enum Extent: Sendable {
        /// A few rows, whose number is known beforehand.
        case few
        /// Any number of rows.
        case any
    }

    private struct Waiting: Sendable {
        /// Writes, and returns a closure that reports the outcome once the transaction is on the disk.
        let write: @Sendable (Database) throws -> @Sendable () -> Void
        /// Reports that nothing was written.
        let refuse: @Sendable (StoreFault) -> Void
    }

    /// The position of a new commit in the queue.
    private enum Place { case first, behindOthers }

    private struct State {
        var waiting: [Waiting] = []
        /// Whether the writer connection is in use: by the writer thread, an inline commit or a read.
        var isTaken = false
        var isClosed = false
        /// Whether the last transaction that wrote something reached the disk within `quick`.
        var isQuick = false
        /// The number of inline commits since the last commit of the writer thread.
        var commitsInPlace = 0
        var batches = 0
        /// The continuations that wait until the writer connection is free.
        var whenIdle: [CheckedContinuation<Void, Never>] = []
    }

    private let pool: DatabasePool
    private let busyTimeout: Duration
    private let waitingLimit: Int
    private let quick: Duration
    private let isCallerAlone: @Sendable () -> Bool
    private let state = Mutex(State())

    /// Creates the queue for the writer connection of a pool.
    ///
    /// A commit is refused while `waitingLimit` commits wait. A disk that takes longer than `quick` gets no
    /// inline commits.
    init(
        _ pool: DatabasePool, busyTimeout: Duration = .seconds(5), waitingLimit: Int = 10_000,
        quick: Duration = SQLiteStore.quickDisk, isCallerAlone: @escaping @Sendable () -> Bool = { false }
    ) {
        self.pool = pool
        self.busyTimeout = busyTimeout
        self.waitingLimit = waitingLimit
        self.quick = quick
        self.isCallerAlone = isCallerAlone
    }

    /// The number of commits that wait for the writer thread.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Whether the writer connection is in use: by the writer thread, an inline commit or a read.
    var isTaken: Bool { state.withLock { $0.isTaken } }

    /// Commits one atomic write and returns its outcome once it is on the disk.
    ///
    /// The commit completes even if the caller's task is cancelled, so the outcome is always true.
    func commit<Outcome: Sendable>(
        writing extent: Extent = .any,
        _ write: @escaping @Sendable (Database) throws -> Outcome
    ) async throws(StoreFault) -> Outcome {
        if extent == .few, isCallerAlone(), let outcome = try commitInPlace(write) { return outcome }
        let result: Result<Outcome, StoreFault> = await withCheckedContinuation { continuation in
            enqueue(
                Waiting(
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

    /// Commits on the caller's thread, if the disk is quick and the writer connection is free.
    ///
    /// - Returns: The outcome, or nil if nothing was written and the commit must go to the writer thread.
    private func commitInPlace<Outcome>(_ write: (Database) throws -> Outcome) throws(StoreFault) -> Outcome? {
        guard take(when: { $0.isQuick && $0.commitsInPlace < Self.commitsInPlaceBetweenFolds }) else { return nil }
        defer { if !letGo() { startWriter() } }
        do {
            return try pool.writeWithoutTransaction { database in
                guard try beginAtOnce(database) else { return nil }
                // A checkpoint takes as long as many commits, and other requests would wait for this thread.
                sqlite3_wal_autocheckpoint(database.sqliteConnection, 0)
                defer { sqlite3_wal_autocheckpoint(database.sqliteConnection, Self.foldingThreshold) }
                do {
                    let measure = Measure(of: database)
                    let outcome = try write(database)
                    try database.run("COMMIT")
                    note(measure, of: database, inPlace: true)
                    return outcome
                } catch {
                    if database.isInsideTransaction { _ = try? database.run("ROLLBACK") }
                    throw error
                }
            }
        } catch {
            noteFailure()
            throw StoreFault(error)
        }
    }

    /// Begins a transaction; returns false if another process is writing, because the caller's thread does not wait.
    private func beginAtOnce(_ database: Database) throws -> Bool {
        sqlite3_busy_timeout(database.sqliteConnection, 0)
        defer { sqlite3_busy_timeout(database.sqliteConnection, Int32(busyTimeout / .milliseconds(1))) }
        do {
            try database.run("BEGIN IMMEDIATE")
            return true
        } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
            return false
        }
    }

    /// The start time of a transaction and the number of changes before it.
    private struct Measure {
        let began = ContinuousClock.now
        let changes: Int

        init(of database: Database) { changes = database.totalChangesCount }
    }

    /// Records the commit latency, for which transactions that changed nothing do not count.
    private func note(_ measure: Measure, of database: Database, inPlace: Bool) {
        let isQuick = ContinuousClock.now - measure.began <= quick
        let hasWritten = database.totalChangesCount > measure.changes
        state.withLock { state in
            if hasWritten { state.isQuick = isQuick }
            state.commitsInPlace = inPlace ? state.commitsInPlace + 1 : 0
        }
    }

    /// Records a failed commit: the disk no longer counts as quick, so the next commit goes to the writer thread.
    private func noteFailure() { state.withLock { $0.isQuick = false } }

    /// Takes the writer connection for the caller's thread, unless it is in use or the queue is closed.
    private func take(when condition: (State) -> Bool = { _ in true }) -> Bool {
        state.withLock { state in
            guard !state.isTaken, !state.isClosed, condition(state) else { return false }
            state.isTaken = true
            return true
        }
    }

    /// Reads on the writer connection, on the caller's thread; returns nil if the connection is in use or closed.
    ///
    /// A reader drops its page cache with each commit. The writer connection keeps the pages that it wrote,
    /// so rows that are about to be changed again are in its cache. Commits that arrive meanwhile wait.
    func readWhenIdle<Value>(_ statement: (Database) throws -> Value) rethrows -> Value? {
        guard take() else { return nil }
        defer { if !letGo() { startWriter() } }
        return try pool.writeWithoutTransaction(statement)
    }

    /// Refuses new commits and returns when all waiting commits are done.
    func finish() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                state.isClosed = true
                if state.isTaken { state.whenIdle.append(continuation) }
                return !state.isTaken
            }
            if isIdle { continuation.resume() }
        }
    }

    private func enqueue(_ commit: Waiting) {
        let place: Result<Place, StoreFault> = state.withLock { state in
            guard !state.isClosed else { return .failure(.unavailable("the store is closed")) }
            guard state.waiting.count < waitingLimit else {
                return .failure(.unavailable("the commit queue is full (\(waitingLimit) commits)"))
            }
            state.waiting.append(commit)
            defer { state.isTaken = true }
            return .success(state.isTaken ? .behindOthers : .first)
        }
        switch place {
        case .success(.behindOthers): break
        // Outside the lock, because the writer takes it first of all.
        case .success(.first): startWriter()
        case .failure(let fault): commit.refuse(fault)
        }
    }

    private func startWriter() {
        pool.asyncWriteWithoutTransaction { database in
            repeat {
                while let batch = self.nextBatch() { self.write(batch, in: database) }
            } while !self.letGo()
        }
    }

    private func nextBatch() -> [Waiting]? {
        state.withLock { state in
            guard !state.waiting.isEmpty else { return nil }
            let batch = Array(state.waiting.prefix(Self.batchLimit))
            state.waiting.removeFirst(batch.count)
            return batch
        }
    }

    /// Releases the writer connection unless commits wait for it; returns whether it was released.
    private func letGo() -> Bool {
        let whenIdle = state.withLock { state -> [CheckedContinuation<Void, Never>]? in
            guard state.waiting.isEmpty else { return nil }
            state.isTaken = false
            defer { state.whenIdle = [] }
            return state.whenIdle
        }
        for continuation in whenIdle ?? [] { continuation.resume() }
        return whenIdle != nil
    }

    private func write(_ batch: [Waiting], in database: Database) {
        do {
            try database.run("BEGIN IMMEDIATE")
            // Starts here, because waiting for another process to finish writing says nothing about the disk.
            let measure = Measure(of: database)
            // A single commit needs no savepoint: if it fails, the whole transaction is rolled back.
            let isAlone = batch.count == 1
            let answers = try batch.map { commit in
                isAlone ? try commit.write(database) : try write(commit, in: database)
            }
            try database.run("COMMIT")
            note(measure, of: database, inPlace: false)
            for answer in answers { answer() }
        } catch {
            noteFailure()
            // SQLite may have rolled the transaction back itself.
            if database.isInsideTransaction { _ = try? database.run("ROLLBACK") }
            let fault = StoreFault(error)
            for commit in batch { commit.refuse(fault) }
        }
        foldLogIfLarge(in: database)
    }

    /// Writes one commit of a batch and returns the closure that reports it; throws only if the whole
    /// transaction fails.
    private func write(_ commit: Waiting, in database: Database) throws -> @Sendable () -> Void {
        try database.run("SAVEPOINT one_commit")
        do {
            let answer = try commit.write(database)
            try database.run("RELEASE one_commit")
            return answer
        } catch {
            // Some errors, such as a full disk, can make SQLite roll back the whole transaction.
            guard database.isInsideTransaction else { throw error }
            try database.run("ROLLBACK TO one_commit")
            try database.run("RELEASE one_commit")
            let fault = StoreFault(error)
            return { commit.refuse(fault) }
        }
    }

    /// Checkpoints and truncates a large WAL, in case overlapping readers have kept SQLite's own checkpoints
    /// from finishing.
    private func foldLogIfLarge(in database: Database) {
        let isTimeToLook = state.withLock { state in
            state.batches += 1
            return state.batches.isMultiple(of: Self.batchesBetweenLooks)
        }
        guard isTimeToLook, FileIdentity.size(ofFileAt: pool.path + "-wal") > 4 * Self.logSizeLimit else { return }
        _ = try? database.checkpoint(.truncate)
    }
}
