import CounterfoilProtocol
import CounterfoilSQL
import CounterfoilServer
import Logging
import ServiceLifecycle

/// The service that keeps the endings journal complete, and regularly notes in it up to when it is.
struct EndingsService: Service {
    private let journal: EndingsJournal

    /// The seconds between two checks of the file, and for what is not in it: endings by commands that could not write
    /// to it, or from before it could be written again.
    private static let pause = Duration.seconds(60)
    /// The number of checks after which the journal gets a mark with the time.
    private static let checksPerMark = 60

    init(_ journal: EndingsJournal) { self.journal = journal }

    /// Opens the journal of a store, or does nothing without a path.
    ///
    /// - Throws: `CommandFailure` if the file cannot be used, or is the journal of another store.
    static func open(
        _ path: String?, named name: String, of installation: Installation, logger: Logger
    ) async throws -> EndingsService? {
        guard let path else { return nil }
        // Each revocation tries again, so a full disk would fill the log.
        let lastReport = Mutex(ContinuousClock.Instant?.none)
        return EndingsService(
            try await installation.journal(at: path, named: name) { failure in
                let isDue = lastReport.withLock { last in
                    if let last, last.duration(to: .now) < pause { return false }
                    last = .now
                    return true
                }
                guard isDue else { return }
                let metadata: Logger.Metadata = ["error": "\(failure)"]
                if case .aheadOfStore = failure {
                    logger.error("started on a database that lacks endings of the journal", metadata: metadata)
                } else {
                    logger.error(
                        "failed to write the endings journal; what ended is kept in the database", metadata: metadata)
                }
            })
    }

    /// Refuses a journal that has lines, for a directory without a database: it is that of a database which is lost.
    static func checkNew(
        _ directory: String, journal path: String?, named name: String
    ) throws(CommandFailure) {
        guard let path, DataDirectoryState(of: directory) == .new, EndingsJournal.hasLines(at: path) else { return }
        throw .refused(
            "\(name): \(path) has the endings of a database, and there is none in \(directory); restore a copy "
                + "with restore, or for a new server name another file")
    }

    /// The failures to write the journal, and the seconds since it had every ending of the store.
    var measurements: (failures: Int, age: Double) {
        let progress = journal.currentProgress
        return (progress.failures, (ContinuousClock.now - progress.completeAt) / .seconds(1))
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var checks = 0
            while !Task.isCancelled {
                do { try await Task.sleep(for: Self.pause) } catch { return }
                checks += 1
                await journal.catchUp(marking: checks.isMultiple(of: Self.checksPerMark), checking: true)
            }
        }
    }

    /// Notes that the journal is complete, after the last request.
    func finish() async { await journal.catchUp(marking: true) }
}
