import CounterfoilProtocol
import CounterfoilServer
import Foundation

/// The endings journal of a store, if it has one.
package final class EndingsOutlet: Sendable {
    private let value = Mutex<EndingsJournal?>(nil)

    /// The journal.
    package var journal: EndingsJournal? { value.withLock { $0 } }

    fileprivate func set(_ journal: EndingsJournal) { value.withLock { $0 = journal } }
}

/// The writer of an endings journal, a file outside of the database with everything that has ended access.
///
/// The transaction that ends something records it in the table `endings`. After the commit, and before its caller gets
/// the outcome, the writer appends the rows of the table that the file lacks. If that fails, the outcome stands,
/// and the next attempt writes the same rows. Only a database that is lost before that takes them with it.
package final class EndingsJournal: Sendable {
    /// The time in seconds for which the store keeps endings after they were recorded: 30 days.
    ///
    /// A journal that could not be written for so long has a gap.
    static let retention: TimeInterval = 30 * 86400
    /// The largest number of endings that are appended at once.
    private static let batch = 1000

    private let engine: any SQLEngine
    private let position: EndingsPosition
    private let statements = EndingStatements()
    private let queue = DispatchQueue(label: "counterfoil.endings")
    private let file: Mutex<JournalFile>
    /// The time for which a caller waits for the file.
    private let patience: Duration
    private let path: String
    /// The number of appends for which no caller waits any more.
    private let overdue = Mutex(0)
    /// The number up to which the file has every ending.
    private let written: Mutex<Int64>
    private let progress = Mutex(Progress())
    private let report: @Sendable (JournalFailure) -> Void

    /// The attempts of this process to write the journal.
    package struct Progress: Sendable {
        /// The number of failed attempts.
        package fileprivate(set) var failures = 0
        /// The last time at which the file had every ending of the store.
        package fileprivate(set) var completeAt = ContinuousClock.now
    }

    private init(
        _ engine: any SQLEngine, position: EndingsPosition, path: String, sizeLimit: Int64, patience: Duration,
        reporting report: @escaping @Sendable (JournalFailure) -> Void
    ) {
        self.engine = engine
        self.position = position
        self.report = report
        self.path = path
        self.patience = patience
        // A caller stops waiting first, and then others do not wait at all.
        file = Mutex(JournalFile(path: path, sizeLimit: sizeLimit, patience: patience * 2))
        written = Mutex(position.first)
    }

    /// Opens the journal of a store, and has the store write to it from now on.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - path: The path of the file, which is created if it is missing.
    ///   - marks: Whether to append now what the file lacks, and a mark with the time.
    ///   - takesEarlierStore: Whether a store that lacks endings of the file is reported and not refused.
    ///   - sizeLimit: The size in bytes from which the file is rotated.
    ///   - patience: The time for which a commit waits for the file, if its disk or another process hangs.
    ///   - report: The function that gets each later failure to write.
    @discardableResult
    package static func open(
        of store: some SQLStore, at path: String, marking marks: Bool,
        takingEarlierStore takesEarlierStore: Bool = false,
        sizeLimit: Int64 = 16 << 20, patience: Duration = .seconds(3),
        reporting report: @escaping @Sendable (JournalFailure) -> Void
    ) async throws(JournalFailure) -> EndingsJournal {
        // The file is read first, so that it is not ahead because of what is written meanwhile.
        let end = try? JournalFile.lastLine(ofFileAt: path)
        let position: EndingsPosition
        do { position = try await store.read { try $0.endingsPosition() } } catch { throw .store("\(error)") }
        guard position.restoringFrom == nil else { throw .store("\(UnfinishedRestore())") }
        if position.isBehind(end) {
            let failure = JournalFailure.aheadOfStore(path: path)
            guard takesEarlierStore else { throw failure }
            report(failure)
        }
        let journal = EndingsJournal(
            store.database.engine, position: position, path: path, sizeLimit: sizeLimit, patience: patience,
            reporting: report)
        if marks { try await journal.write(marking: true) }
        store.database.endings.set(journal)
        return journal
    }

    /// Commits a write, and appends what it has ended before it returns the outcome.
    func commit<Value: Sendable>(
        _ write: @escaping @Sendable (SQLConnection) throws -> Value
    ) async throws(StoreFault) -> Value {
        let watch = EndingWatch(statements)
        let value = try await engine.commit { connection in try write(connection.watched(by: watch)) }
        if watch.mayHaveEnded { await catchUp() }
        return value
    }

    /// Appends what the file lacks, and reports a failure.
    ///
    /// - Parameters:
    ///   - marks: Whether to append a mark with the time, up to which the journal then knows every ending.
    ///   - checks: Whether to open the file also if there is nothing to append. A file that is missing is created, with
    ///     the endings that the store still has.
    package func catchUp(marking marks: Bool = false, checking checks: Bool = false) async {
        do { try await write(marking: marks, checking: checks) } catch {
            progress.withLock { $0.failures += 1 }
            report(error)
        }
    }

    /// The attempts until now, for the metrics of this process.
    package var currentProgress: Progress { progress.withLock { $0 } }

    /// Appends what the file lacks.
    package func write(marking marks: Bool, checking checks: Bool = false) async throws(JournalFailure) {
        var start = written.withLock { $0 }
        while true {
            let begun = ContinuousClock.now
            // A mark says that nothing from before this time is missing, so the time is from before the read.
            let now = Date().microseconds
            let (after, begin, endings): (Int64, Int64, [Ending])
            do {
                (after, begin, endings) = try await engine.read { [start] connection in
                    let endings = try connection.endings(after: start, atMost: Self.batch)
                    guard marks || checks || !endings.isEmpty else { return (start, start, []) }
                    return (start, try connection.endingsBegin(), endings)
                }
            } catch { throw .store("\(error)") }
            guard marks || checks || !endings.isEmpty else { return }
            let isLast = endings.count < Self.batch
            let outcome = try await append(endings, after: after, begin: begin, at: now, marking: marks && isLast)
            switch outcome {
            case .complete(let through):
                written.withLock { $0 = max($0, through) }
                guard !isLast else { return progress.withLock { $0.completeAt = max($0.completeAt, begun) } }
                start = through
            case .lacks(let number): start = number
            }
        }
    }

    /// Appends on a thread that may wait for the disk; the caller waits for a limited time.
    ///
    /// While an append is overdue, others fail at once: their rows stay in the database, and are written later.
    private func append(
        _ endings: [Ending], after number: Int64, begin: Int64, at now: Int64, marking marks: Bool
    ) async throws(JournalFailure) -> JournalFile.Outcome {
        let hangs = JournalFailure.failed(path: path, reason: "its disk or another process does not answer in time")
        guard overdue.withLock({ $0 == 0 }) else { throw hangs }
        let result: Result<JournalFile.Outcome, JournalFailure> = await withCheckedContinuation { continuation in
            let pending = PendingAppend(continuation)
            queue.async { [self] in
                guard pending.begin() else { return }
                let result = file.withLock { file -> Result<JournalFile.Outcome, JournalFailure> in
                    do throws(JournalFailure) {
                        return .success(
                            try file.append(
                                endings, after: number, storeBeginsAfter: begin, of: position, at: now,
                                marking: marks))
                    } catch { return .failure(error) }
                }
                // It was overdue until now, if its caller does not wait any more.
                if !pending.end(with: result) { overdue.withLock { $0 -= 1 } }
            }
            let (seconds, attoseconds) = patience.components
            let wait = Double(seconds) + Double(attoseconds) / 1e18
            DispatchQueue.global().asyncAfter(deadline: .now() + wait) { [self] in
                pending.giveUp(with: hangs) { overdue.withLock { $0 += 1 } }
            }
        }
        return try result.get()
    }
}
