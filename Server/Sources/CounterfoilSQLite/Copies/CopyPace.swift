import Foundation
import GRDB
import GRDBSQLite

/// The pace of a copy, which leaves most of the machine to the requests of the server.
///
/// After each quarter of a millisecond of work, the copy pauses for three times as long as it worked. Where others use
/// the processor or the disk, the same work takes longer, and so do the pauses. The priority of the process is not
/// enough: between two services or two sessions of a system, the kernel divides the time without regard to it. Nor may
/// the work be longer: a request that comes meanwhile may wait for its end.
final class CopyPace {
    /// The time of the work between two pauses.
    static let work = Duration.microseconds(250)
    /// The time of a pause, as a multiple of the time of the work before it.
    static let pauses = 3
    /// The longest pause, after which the copy continues, however long a disk took.
    static let longestPause = Duration.seconds(1)
    /// The number of instructions of SQLite between two looks at the clock.
    private static let instructions: CInt = 100

    private let now: () -> ContinuousClock.Instant
    private let pause: (Duration) -> Void
    private var begin: ContinuousClock.Instant

    /// Creates the pace of a copy that begins now.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - pause: A function that returns after a time.
    init(
        now: @escaping () -> ContinuousClock.Instant = { .now },
        pause: @escaping (Duration) -> Void = { Thread.sleep(forTimeInterval: $0 / .seconds(1)) }
    ) {
        self.now = now
        self.pause = pause
        begin = now()
    }

    /// Pauses if the copy has worked long enough since the last pause.
    func step() {
        let worked = begin.duration(to: now())
        guard worked >= Self.work else { return }
        pause(min(worked * Self.pauses, Self.longestPause))
        begin = now()
    }

    /// Runs statements of a connection at this pace.
    func during<Value>(_ database: Database, _ statements: () throws -> Value) rethrows -> Value {
        let connection = database.sqliteConnection
        sqlite3_progress_handler(
            connection, Self.instructions,
            { pace in
                if let pace { Unmanaged<CopyPace>.fromOpaque(pace).takeUnretainedValue().step() }
                return 0
            }, Unmanaged.passUnretained(self).toOpaque())
        defer { sqlite3_progress_handler(connection, 0, nil, nil) }
        return try withExtendedLifetime(self) { try statements() }
    }
}
