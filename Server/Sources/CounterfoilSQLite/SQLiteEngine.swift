import CounterfoilSQL
import CounterfoilStore
import Foundation
import GRDB

/// The connections of a store to its file, and its clock.
struct SQLiteEngine: SQLEngine {
    let pool: DatabasePool
    let readers: Readers
    let commits: CommitQueue
    let clock: FileClock
    let endings: EndingsWatch

    var kind: StoreMeasurements.Kind { .sqlite }

    /// The time by the clock of the server that runs on the file; if none does, by a clock that started with the wall
    /// clock when this store was opened.
    ///
    /// Setting the wall clock does not change it.
    var now: Date { clock.now }

    var measurements: StoreMeasurements {
        StoreMeasurements(
            .sqlite, meter, waiting: commits.pendingCount,
            files: StoreMeasurements.Files(
                database: DatabaseFileKind.size(ofFileAt: pool.path),
                writeAheadLog: DatabaseFileKind.size(ofFileAt: pool.path + "-wal")))
    }

    private var meter: StoreMeter { commits.meter }

    /// Runs queries on the caller's thread.
    ///
    /// A lookup by key takes microseconds and never waits for the writer. A switch to another thread and back would
    /// take longer.
    func read<Value: Sendable>(
        as operation: StaticString, _ queries: @escaping @Sendable (SQLConnection) throws -> Value
    ) async throws(StoreFault) -> Value {
        let start = ContinuousClock.now
        do {
            let value = try readers.read { database in try queries(database.connection) }
            meter.note(.read, since: start)
            return value
        } catch {
            let fault = StoreFault(error)
            meter.note(.read, since: start, fault: fault)
            throw fault
        }
    }

    func commit<Value: Sendable>(
        as operation: StaticString, ending _: DeclaredEndings,
        _ write: @escaping @Sendable (SQLConnection) throws -> Value
    ) async throws(StoreFault) -> Committed<Value> {
        let start = ContinuousClock.now
        do {
            let committed = try await commits.commit { [endings] in try endings.commit(write, on: $0) }
            meter.note(.commit, since: start)
            return committed
        } catch {
            meter.note(.commit, since: start, fault: error)
            throw error
        }
    }

    func noteClock(on connection: SQLConnection) throws {
        let mark = clock.mark
        try connection.send(
            "UPDATE service SET boot = ?1, boot_clock = ?2, clock_origin = ?3", mark?.boot, mark?.beat, mark?.origin)
    }

    /// Writes the pages of a logo to the WAL, because deleted pages are overwritten (`secure_delete`).
    func takeUpSpace(on connection: SQLConnection) throws {
        let id = "space"
        try connection.send(
            "INSERT INTO logos (id, media_type, bytes) VALUES (?, 'image/png', ?)", id, Data(count: 96 << 10))
        try connection.send("DELETE FROM logos WHERE id = ?", id)
    }

    /// Truncates the WAL, which contains former versions of pages.
    ///
    /// This fails while another process reads, and the next checkpoint then overwrites them.
    func eraseDeleted() async {
        await withCheckedContinuation { continuation in
            pool.asyncWriteWithoutTransaction { database in
                database.truncateLog(waiting: .milliseconds(100))
                continuation.resume()
            }
        }
    }

    /// Completes the waiting commits, refuses later ones, and closes the file after a WAL checkpoint.
    func close() async {
        await commits.finish()
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                // The last connection that closes runs the checkpoint. Only the writer can do that, so the readers
                // close first.
                try? readers.close()
                pool.releaseMemory()
                try? pool.close()
                continuation.resume()
            }
        }
    }
}

extension SQLConnection {
    /// Reads the mark of the last heartbeat; nil if there is none.
    func clockMark() throws -> FileClock.Mark? {
        try first("SELECT boot, boot_clock, clock_origin FROM service WHERE boot IS NOT NULL") { columns in
            FileClock.Mark(
                boot: try columns.text(), beat: try columns.integer(), origin: try columns.integer())
        }
    }
}
