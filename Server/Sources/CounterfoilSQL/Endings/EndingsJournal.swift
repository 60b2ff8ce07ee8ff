@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilStore
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
    private let queue = DispatchQueue(label: "counterfoil.endings")
    private let file: Mutex<JournalFile>
    /// The time for which a caller waits for the file.
    private let patience: Duration
    package let path: String
    /// The number of appends for which no caller waits any more.
    private let overdue = Mutex(0)
    /// The end of the journal that this process knows; nil if it has no line.
    private let known: Mutex<JournalEnd?>
    /// Whether the store lacks endings of the journal.
    private let isAheadOfStore = Mutex(false)
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
        _ engine: any SQLEngine, end: JournalEnd?, path: String, sizeLimit: Int64, patience: Duration,
        reporting report: @escaping @Sendable (JournalFailure) -> Void
    ) {
        self.engine = engine
        self.report = report
        self.path = path
        self.patience = patience
        // A caller stops waiting first, and then others do not wait at all.
        file = Mutex(JournalFile(path: path, sizeLimit: sizeLimit, patience: patience * 2))
        known = Mutex(end)
    }

    /// Opens the journal of a store, and has the store write to it from now on.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - path: The path of the file, which is created if it is missing.
    ///   - marks: Whether to append now what the file lacks, and a mark with the time.
    ///   - takesEarlierStore: Whether a store that lacks endings of the journal is accepted. The caller must end
    ///     them again.
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
        let end = try JournalEnd.read(ofJournalAt: path)
        do { try await store.checkRestored() } catch { throw .store("\(error)") }
        let engine = store.database.engine
        let journal = EndingsJournal(
            engine, end: end, path: path, sizeLimit: sizeLimit, patience: patience, reporting: report)
        do throws(JournalFailure) {
            if marks { try await journal.write(marking: true) } else { _ = try await journal.continuation(of: end) }
        } catch {
            guard takesEarlierStore, case .aheadOfStore = error else { throw error }
        }
        store.database.endings.set(journal)
        return journal
    }

    /// Appends what the file lacks, and reports a failure.
    ///
    /// - Parameters:
    ///   - marks: Whether to append a mark with the time, up to which the journal then knows every ending.
    ///   - checks: Whether to open the file also if there is nothing to append. A file that is missing is created, with
    ///     the endings that the store still has.
    ///
    /// While the store lacks endings of the journal, nothing is appended.
    package func catchUp(marking marks: Bool = false, checking checks: Bool = false) async {
        guard !lacksStore else { return }
        do { try await write(marking: marks, checking: checks) } catch {
            progress.withLock { $0.failures += 1 }
            report(error)
        }
    }

    /// The attempts until now, for the metrics of this process.
    package var currentProgress: Progress { progress.withLock { $0 } }

    /// Whether the store lacks endings of the journal, as after a failover that lost the last commits.
    package var lacksStore: Bool { isAheadOfStore.withLock { $0 } }

    /// Appends what the file lacks.
    ///
    /// - Throws: ``JournalFailure/aheadOfStore(path:)`` if the store lacks the end of the journal.
    package func write(marking marks: Bool, checking checks: Bool = false) async throws(JournalFailure) {
        var end = known.withLock { $0 }
        while true {
            let begun = ContinuousClock.now
            // A mark says that nothing from before this time is missing, so the time is from before the read.
            let now = Date().microseconds
            let (number, endings, position) = try await continuation(of: end)
            guard marks || checks || !endings.isEmpty else { return }
            let isLast = endings.count < Self.batch
            let outcome = try await append { [end] file throws(JournalFailure) in
                try file.append(
                    endings, after: number, continuing: end?.relevant(to: position), of: position, at: now,
                    marking: marks && isLast)
            }
            switch outcome {
            case .complete(let reached):
                known.withLock { $0 = reached }
                guard !isLast else { return progress.withLock { $0.completeAt = max($0.completeAt, begun) } }
                end = reached
            case .endsElsewhere(let found): end = found
            }
        }
    }

    /// Reads the endings of the store after the end of the journal.
    private func continuation(
        of end: JournalEnd?
    ) async throws(JournalFailure) -> (after: Int64, endings: [Ending], position: EndingsPosition) {
        let continuation: Continuation
        do {
            continuation = try await engine.read { try $0.continuation(of: end, atMost: Self.batch) }
        } catch { throw .store("\(error)") }
        switch continuation {
        case .after(let number, let endings, let position): return (number, endings, position)
        case .ofAnotherStore: throw .ofAnotherStore(path: path)
        case .restoredWithout: throw .restoredWithout(path: path)
        case .lacksEnd:
            isAheadOfStore.withLock { $0 = true }
            throw .aheadOfStore(path: path)
        }
    }

    /// Reads the endings that the journal has and the store lacks.
    ///
    /// If it lacks none, because another process has ended them again and continued the journal, this one continues it,
    /// too, and the result is nil.
    package func lostEndings() async throws(JournalFailure) -> LostEndings? {
        let end = try JournalEnd.read(ofJournalAt: path)
        if let end, let lost = try await LostEndings.read(ofJournalAt: path, endingWith: end, from: engine) {
            return lost
        }
        known.withLock { $0 = end }
        isAheadOfStore.withLock { $0 = false }
        try await write(marking: true)
        return nil
    }

    /// Continues the journal with the endings of the store, after what the store lacked was ended again in it.
    ///
    /// The journal keeps both. If this process is killed before, the next one ends the same things again.
    package func turn(from lost: LostEndings) async throws(JournalFailure) {
        let now = Date().microseconds
        let number = lost.number
        let state: (position: EndingsPosition, endings: [Ending])
        do {
            state = try await engine.read { connection in
                (try connection.endingsPosition(), try connection.endings(after: number))
            }
        } catch { throw .store("\(error)") }
        let outcome = try await append { file throws(JournalFailure) in
            try file.turn(
                to: state.endings, after: number, continuing: lost.common, from: lost.end, of: state.position, at: now)
        }
        let end =
            switch outcome {
            case .complete(let reached): reached as JournalEnd?
            // Another process has done it, or has appended more that is lost: the next write finds out.
            case .endsElsewhere(let found): found
            }
        known.withLock { $0 = end }
        isAheadOfStore.withLock { $0 = false }
        try await write(marking: true)
    }

    /// Appends on a thread that may wait for the disk; the caller waits for a limited time.
    ///
    /// While an append is overdue, others fail at once: their rows stay in the database, and are written later.
    private func append(
        _ work: @escaping @Sendable (JournalFile) throws(JournalFailure) -> JournalFile.Outcome
    ) async throws(JournalFailure) -> JournalFile.Outcome {
        let hangs = JournalFailure.failed(path: path, reason: "its disk or another process does not answer in time")
        guard overdue.withLock({ $0 == 0 }) else { throw hangs }
        let result: Result<JournalFile.Outcome, JournalFailure> = await withCheckedContinuation { continuation in
            let pending = PendingAppend(continuation)
            queue.async { [self] in
                guard pending.begin() else { return }
                let result = file.withLock { file -> Result<JournalFile.Outcome, JournalFailure> in
                    do throws(JournalFailure) { return .success(try work(file)) } catch { return .failure(error) }
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
