import CounterfoilProtocol
import CounterfoilServer
import Foundation
import GRDB

/// The store of the authorization server in one SQLite file.
///
/// Every answer that it gives survives a crash of the process and of the machine: the write-ahead log is synced with each
/// commit, and opening refuses a file system where that cannot be. Other processes of the same version may read and write the
/// same file at the same time, which is how administration works while a server runs.
public final class SQLiteStore: Sendable {
    /// The number with which the files of this product say whose they are, "CFoi".
    static let applicationID: Int64 = 0x4346_6F69

    /// The path of the file.
    public let path: String

    let pool: DatabasePool
    let commits: CommitQueue
    let knownClients = KnownClients()
    /// What every request of an API asks for again.
    let knownGrants = KnownReads<GrantIdentifier, GrantFacts?>(capacity: 4096)
    let knownResources = KnownReads<ClientIdentifier, RegisteredResource?>(capacity: 256)
    /// What every refresh asks for again, by the version of the registry.
    let registeredResources = KnownReads<Resource, RegisteredResource?>(capacity: 256)
    private let readers: Readers
    private let version: DataVersion

    /// What a slow solid-state disk takes, and a spinning one does not reach.
    public static let quickDisk = Duration.milliseconds(4)

    /// Opens a store, brings it to this version, and makes it when it does not exist.
    ///
    /// A file that is not such a store, or that a newer version has written, is refused without a byte being written. A new
    /// file, and a directory that has to be made for it, belong to their owner alone.
    ///
    /// - Parameters:
    ///   - path: The path of the file; SQLite keeps two more beside it, with `-wal` and `-shm` added to the name.
    ///   - createIfMissing: Whether a store that does not exist is made rather than refused.
    ///   - upgrading: Whether a store of an earlier version is brought to this one rather than refused; no process of that version
    ///     may have it open then, because it would no longer find its tables.
    ///   - busyTimeout: How long to wait for another process that is writing.
    ///   - quickDisk: How long the disk may take for the thread of a caller to wait for it.
    ///   - isCallerAlone: Whether nobody but the caller of this moment has anything to do, so that what it writes may be written on
    ///     its thread, when that is little and the disk is quick; asked before each commit.
    public init(
        at path: String,
        createIfMissing: Bool = true,
        upgrading: Bool = true,
        busyTimeout: Duration = .seconds(5),
        quickDisk: Duration = SQLiteStore.quickDisk,
        isCallerAlone: @escaping @Sendable () -> Bool = { false }
    ) throws(OpeningRefusal) {
        self.path = path
        switch try FileIdentity(ofFileAt: path) {
        case .missing where !createIfMissing: throw .missing(path: path)
        case .missing: try Self.createFile(at: path)
        case .empty: break
        case .sqlite(let applicationID, let version) where applicationID == Self.applicationID:
            guard version <= Migration.all.count else {
                throw .newerVersion(path: path, found: version, supported: Migration.all.count)
            }
            guard upgrading || version == Migration.all.count else {
                throw .earlierVersion(path: path, found: version, supported: Migration.all.count)
            }
        case .sqlite: throw .otherApplication(path: path)
        case .other: throw .notADatabase(path: path)
        }
        do {
            pool = try DatabasePool(path: path, configuration: Self.configuration(busyTimeout))
            try pool.writeWithoutTransaction(Self.makeDurable)
            try pool.writeWithoutTransaction(Migration.run)
            let reading = Self.configuration(busyTimeout, readonly: true)
            readers = try Readers(path: path, configuration: reading)
            version = try DataVersion(path: path, configuration: reading)
        } catch {
            throw OpeningRefusal(error, path: path)
        }
        commits = CommitQueue(pool, busyTimeout: busyTimeout, quick: quickDisk, isCallerAlone: isCallerAlone)
    }

    /// Answers the commits that wait, refuses later ones, and closes the file, with the log folded into it.
    public func close() async {
        await commits.finish()
        let (pool, readers, version) = (pool, readers, version)
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                // The readers go first: only a connection that may write can fold the log in as the last one.
                try? version.close()
                try? readers.close()
                pool.releaseMemory()
                try? pool.close()
                continuation.resume()
            }
        }
    }

    /// Runs one statement that reads.
    ///
    /// It runs on the thread of the caller: a look-up by key takes microseconds and never waits for the writer, which is less
    /// than going to another thread and back. A second statement would need a transaction to see the same state.
    func read<Value>(_ statement: (Database) throws -> Value) throws(StoreFault) -> Value {
        do {
            return try readers.read(statement)
        } catch {
            throw StoreFault(error)
        }
    }

    /// Runs one statement that reads what is about to be written, where that costs least.
    func readBeforeCommit<Value>(_ statement: (Database) throws -> Value) throws(StoreFault) -> Value {
        do {
            return try commits.readWhenIdle(statement) ?? readers.read(statement)
        } catch {
            throw StoreFault(error)
        }
    }

    /// Runs one statement that reads, unless its answer is known and still true.
    func read<Key, Value>(
        _ key: Key, knownBy known: KnownReads<Key, Value>, _ statement: (Database) throws -> Value
    ) throws(StoreFault) -> Value {
        do {
            return try known.value(of: key, at: try version.current) { try readers.read(statement) }
        } catch {
            throw StoreFault(error)
        }
    }

    private static func configuration(_ busyTimeout: Duration, readonly: Bool = false) -> Configuration {
        var configuration = Configuration()
        configuration.readonly = readonly
        configuration.label = "counterfoil"
        configuration.busyMode = .timeout(busyTimeout / .seconds(1))
        configuration.prepareDatabase { database in
            try database.execute(
                sql: "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA secure_delete = ON"
            )
            if database.configuration.readonly {
                try database.execute(sql: "PRAGMA cache_size = \(Readers.cacheSize)")
            } else {
                try database.execute(sql: "PRAGMA journal_size_limit = \(CommitQueue.logSizeLimit)")
            }
        }
        return configuration
    }

    /// Sets the writer so that a commit is on the disk before it is answered, and refuses when it cannot be.
    ///
    /// The pool has set `synchronous` to NORMAL just before, with which a power cut loses the last commits.
    private static func makeDurable(_ database: Database) throws {
        try database.execute(sql: "PRAGMA synchronous = FULL")
        let synchronous = try Int.fetchOne(database, sql: "PRAGMA synchronous")
        let journal = try String.fetchOne(database, sql: "PRAGMA journal_mode")
        guard synchronous == 2, journal == "wal" else { throw NotDurable() }
    }

    private static func createFile(at path: String) throws(OpeningRefusal) {
        let directory = URL(fileURLWithPath: path).deletingLastPathComponent().path
        do {
            try FileManager.default.createDirectory(
                atPath: directory,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
        } catch {
            throw .directoryNotUsable(path: directory, reason: "it cannot be made")
        }
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        let reason = errno
        if descriptor >= 0 {
            _ = Foundation.close(descriptor)
        } else if reason != EEXIST {
            throw .directoryNotUsable(path: directory, reason: String(cString: strerror(reason)))
        }
    }
}
