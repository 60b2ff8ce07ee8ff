@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilSQL
import CounterfoilServer
import Foundation
import Logging
import ServiceLifecycle

/// The service that keeps the endings journal complete, and regularly notes in it up to when it is.
struct EndingsService: Service {
    private let journal: EndingsJournal
    /// The lock that prevents a second server from writing to the journal.
    private let lock: ServingLock
    private let installation: Installation
    private let logger: Logger
    /// An element for each time at which the database was found to lack endings of the journal.
    private let calls: AsyncStream<Void>
    private let call: AsyncStream<Void>.Continuation

    /// The seconds between two checks of the file, and for what is not in it: endings by commands that could not write
    /// to it, or from before it could be written again.
    private static let pause = Duration.seconds(60)
    /// The number of checks after which the journal gets a mark with the time.
    private static let checksPerMark = 60

    /// Opens the journal of a store, and ends again what the store lacks of it; nil without a path.
    ///
    /// - Throws: `CommandFailure` if the file cannot be used, or is the journal of another store.
    init?(
        _ path: String?, named name: String, of installation: Installation, logger: Logger
    ) async throws {
        guard let path else { return nil }
        lock = try await Self.lock(path, named: name)
        // Each revocation tries again, so a full disk would fill the log.
        let lastReport = Mutex(ContinuousClock.Instant?.none)
        let (calls, call) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        (self.installation, self.logger, self.calls, self.call) = (installation, logger, calls, call)
        journal = try await installation.journal(at: path, named: name) { failure in
            if case .aheadOfStore = failure {
                call.yield()
                return
            }
            let isDue = lastReport.withLock { last in
                if let last, last.duration(to: .now) < Self.pause { return false }
                last = .now
                return true
            }
            guard isDue else { return }
            logger.error(
                "failed to write the endings journal; what ended is kept in the database",
                metadata: ["error": "\(failure)"])
        }
        guard journal.lacksStore else { return }
        do { try await installation.endAgain(journal)?.log(to: logger) } catch let failure as JournalFailure {
            throw CommandFailure(failure, ofJournalAt: path, named: name)
        }
    }

    /// The time for which a server waits for the lock of a former one that ends.
    private static let lockPatience = Duration.seconds(3)

    /// Locks a journal for a server.
    ///
    /// A server on a copy of the store would take what ends in the other one for lost, and end it again. The name of
    /// the lock begins with a period, so that `PATH*` names only files of the journal.
    private static func lock(_ path: String, named name: String) async throws -> ServingLock {
        let url = URL(fileURLWithPath: path)
        let file = url.deletingLastPathComponent().appendingPathComponent(".\(url.lastPathComponent).lock").path
        let limit = ContinuousClock.now + lockPatience
        while true {
            do {
                return try ServingLock(
                    path: file,
                    orRefuse: "\(name): another server writes to \(path); stop it first, or name another file: each "
                        + "server has its own endings journal")
            } catch let failure as CommandFailure {
                guard failure.isTemporary else {
                    throw CommandFailure(.failed(path: path, reason: failure.message), ofJournalAt: path, named: name)
                }
                guard .now < limit else { throw failure }
            }
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    /// Ends again what the database lacks since a failover; a failure is tried again with the next check.
    private func endAgain() async {
        do { try await installation.endAgain(journal)?.log(to: logger) } catch {
            logger.error(
                "failed to end again what the database lacks of the endings journal", metadata: ["error": "\(error)"])
        }
    }

    /// Refuses a journal that has lines, for a directory without a database: it is that of a database which is lost.
    static func checkNew(
        _ directory: String, journal path: String?, named name: String
    ) throws(CommandFailure) {
        guard let path, DataDirectoryState(of: directory) == .new else { return }
        do { guard try EndingsJournal.hasLines(at: path) else { return } } catch {
            throw CommandFailure(error, ofJournalAt: path, named: name)
        }
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
            await withTaskGroup(of: Void.self) { tasks in
                tasks.addTask {
                    var checks = 0
                    while (try? await Task.sleep(for: Self.pause)) != nil {
                        checks += 1
                        // An attempt that failed is made again.
                        if journal.lacksStore { call.yield() }
                        await journal.catchUp(marking: checks.isMultiple(of: Self.checksPerMark), checking: true)
                    }
                }
                for await _ in calls { await endAgain() }
                await tasks.waitForAll()
            }
        }
    }

    /// Notes that the journal is complete, after the last request.
    func finish() async { await journal.catchUp(marking: true) }
}
