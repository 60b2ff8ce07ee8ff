import CounterfoilServer
import GRDB
import GRDBSQLite
import Synchronization

/// The one way to write: the commits that wait are written together, and synced to the disk once.
///
/// A batch is one transaction with a savepoint for each commit. A commit that fails takes only its own writes back; each
/// caller is answered when the transaction of its batch is on the disk, and never before. Whoever is alone, has little to write, and
/// finds a quick disk writes on the thread where it is: going to another one and back would take a tenth of the whole request.
final class CommitQueue: Sendable {
    /// How many bytes the log keeps when it is folded into the file; beyond four times as many, folding is forced.
    static let logSizeLimit = 16 << 20
    /// The most commits of one transaction, so that other processes get their turn.
    private static let batchLimit = 512
    /// After how many batches the size of the log is looked at.
    private static let batchesBetweenLooks = 256
    /// After how many commits in place one goes to the writer, which folds the log into the file when it is due.
    private static let commitsInPlaceBetweenFolds = 256
    /// From how many pages on a commit folds the log into the file; SQLite's own default.
    private static let foldingThreshold: Int32 = 1000

    /// How much a commit writes.
    enum Extent: Sendable {
        /// Few rows, whose number is known beforehand.
        case few
        /// As many rows as there are.
        case any
    }

    private struct Waiting: Sendable {
        /// Writes, and gives the answer to call when it is on the disk.
        let write: @Sendable (Database) throws -> @Sendable () -> Void
        /// Answers that nothing was written.
        let refuse: @Sendable (StoreFault) -> Void
    }

    /// Where a commit stands when it has come.
    private enum Place { case first, behindOthers }

    private struct State {
        var waiting: [Waiting] = []
        /// Whether somebody has the connection: the writer, or one who reads on it.
        var isTaken = false
        var isClosed = false
        /// Whether the last transaction that wrote something was on the disk in no time.
        var isQuick = false
        /// How many commits were written in place since the writer had one.
        var commitsInPlace = 0
        var batches = 0
        /// Those who wait until nobody has the connection.
        var whenIdle: [CheckedContinuation<Void, Never>] = []
    }

    private let pool: DatabasePool
    private let busyTimeout: Duration
    private let waitingLimit: Int
    private let quick: Duration
    private let isCallerAlone: @Sendable () -> Bool
    private let state = Mutex(State())

    /// Makes a queue before the writer of a pool; a commit that finds so many waiting is refused.
    ///
    /// A disk that takes longer than `quick` is not waited for on the thread of the caller.
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

    /// How many commits wait for the writer.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Whether somebody has the connection: the writer, or one who reads on it.
    var isTaken: Bool { state.withLock { $0.isTaken } }

    /// Writes in one atomic step and gives its outcome when it is on the disk.
    ///
    /// It runs to its end even when the task of the caller is cancelled, so that the outcome is always the truth.
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

    /// Writes on the thread of the caller, when the disk is quick and nobody has the connection; nil when nothing was written.
    private func commitInPlace<Outcome>(_ write: (Database) throws -> Outcome) throws(StoreFault) -> Outcome? {
        guard take(when: { $0.isQuick && $0.commitsInPlace < Self.commitsInPlaceBetweenFolds }) else { return nil }
        defer { if !letGo() { startWriter() } }
        do {
            return try pool.writeWithoutTransaction { database in
                guard try beginAtOnce(database) else { return nil }
                // Folding takes as long as many commits, and others would wait for the thread.
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

    /// Begins a transaction unless another process is writing, for which the thread of the caller does not wait.
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

    /// When a transaction began, and how much had been written before.
    private struct Measure {
        let began = ContinuousClock.now
        let changes: Int

        init(of database: Database) { changes = database.totalChangesCount }
    }

    /// Notes how long a transaction took to be on the disk; one that wrote nothing was never there.
    private func note(_ measure: Measure, of database: Database, inPlace: Bool) {
        let isQuick = ContinuousClock.now - measure.began <= quick
        let hasWritten = database.totalChangesCount > measure.changes
        state.withLock { state in
            if hasWritten { state.isQuick = isQuick }
            state.commitsInPlace = inPlace ? state.commitsInPlace + 1 : 0
        }
    }

    /// Notes that a commit has failed, which promises nothing good of the disk: the next one goes to the writer.
    private func noteFailure() { state.withLock { $0.isQuick = false } }

    /// Takes the connection for the thread of the caller, unless somebody has it.
    private func take(when condition: (State) -> Bool = { _ in true }) -> Bool {
        state.withLock { state in
            guard !state.isTaken, !state.isClosed, condition(state) else { return false }
            state.isTaken = true
            return true
        }
    }

    /// Reads on the connection that writes, on the thread of the caller, while nobody has it; nil when somebody has.
    ///
    /// Other connections forget every page with each commit. This one knows what it wrote itself, so that what is read to be
    /// written again is at hand. Commits that come meanwhile wait for it.
    func readWhenIdle<Value>(_ statement: (Database) throws -> Value) rethrows -> Value? {
        guard take() else { return nil }
        defer { if !letGo() { startWriter() } }
        return try pool.writeWithoutTransaction(statement)
    }

    /// Refuses what comes later and returns when everything that waits is answered.
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
                return .failure(.unavailable("\(waitingLimit) commits wait for the disk already"))
            }
            state.waiting.append(commit)
            defer { state.isTaken = true }
            return .success(state.isTaken ? .behindOthers : .first)
        }
        switch place {
        case .success(.behindOthers): break
        // Outside the lock, because the writer's first act is to take it.
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

    /// Gives the connection back, unless commits wait for it; whether it did.
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
            // Another process that was writing is not the disk.
            let measure = Measure(of: database)
            // One alone needs no savepoint: with it the whole transaction is taken back.
            let isAlone = batch.count == 1
            let answers = try batch.map { commit in
                isAlone ? try commit.write(database) : try write(commit, in: database)
            }
            try database.run("COMMIT")
            note(measure, of: database, inPlace: false)
            for answer in answers { answer() }
        } catch {
            noteFailure()
            // SQLite can have given up the transaction by itself.
            if database.isInsideTransaction { _ = try? database.run("ROLLBACK") }
            let fault = StoreFault(error)
            for commit in batch { commit.refuse(fault) }
        }
        foldLogIfLarge(in: database)
    }

    /// Writes one commit of a batch and gives its answer; throws only when the whole transaction is gone.
    private func write(_ commit: Waiting, in database: Database) throws -> @Sendable () -> Void {
        try database.run("SAVEPOINT one_commit")
        do {
            let answer = try commit.write(database)
            try database.run("RELEASE one_commit")
            return answer
        } catch {
            // A full disk and the like can make SQLite give up the transaction by itself.
            guard database.isInsideTransaction else { throw error }
            try database.run("ROLLBACK TO one_commit")
            try database.run("RELEASE one_commit")
            let fault = StoreFault(error)
            return { commit.refuse(fault) }
        }
    }

    /// Folds the log into the file when readers that overlap without a gap have kept SQLite from doing so by itself.
    private func foldLogIfLarge(in database: Database) {
        let isTimeToLook = state.withLock { state in
            state.batches += 1
            return state.batches.isMultiple(of: Self.batchesBetweenLooks)
        }
        guard isTimeToLook, FileIdentity.size(ofFileAt: pool.path + "-wal") > 4 * Self.logSizeLimit else { return }
        _ = try? database.checkpoint(.truncate)
    }
}
