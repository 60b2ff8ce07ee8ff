import CounterfoilProtocol
// The operations of a store are in this module, so a program that uses the store needs no second import.
@_exported public import CounterfoilSQL
public import CounterfoilStore
public import Foundation
import GRDB

/// The store of the authorization server in one SQLite file.
///
/// A committed change survives a crash of the process and of the machine: each commit syncs the write-ahead log (WAL).
/// On a file system that does not support a durable WAL, opening fails. Other processes of the same version may read
/// and write the file at the same time, so administration commands work while a server runs.
public final class SQLiteStore: SQLStore {
    /// The `application_id` of the database files of this product: "Cntf" in ASCII.
    static let applicationID: Int64 = 0x436E_7466

    /// The `application_id` of the files from before version 1 of the schema, which cannot be upgraded.
    static let unreleasedApplicationID: Int64 = 0x4346_6F69

    /// The path of the database file, as it was given to the initializer.
    public let path: String

    /// The path of the copy of the file that was made because this store has upgraded it; nil if it has not.
    public let copyOfEarlierVersion: String?
    /// The connections to the file.
    public let database: SQLDatabase
    let engine: SQLiteEngine
    /// The used DPoP proofs, in the memory of the one server that runs on the file.
    private let proofs: ProcessProofs

    /// Opens a store, migrates it to this version, and creates it if it does not exist.
    ///
    /// If the file is not a store of this product, or a newer version has written it, opening throws an error and
    /// leaves the file unchanged. Before a migration, the file is copied; if that fails, it stays as it is. A new file,
    /// and a directory created for it, are accessible to their owner only.
    ///
    /// - Parameters:
    ///   - path: The path of the file. SQLite keeps two more files beside it, with the suffixes `-wal` and `-shm`.
    ///   - createIfMissing: Whether to create a store that does not exist, or in a file without content. If false,
    ///     opening throws `OpeningRefusal.missing`.
    ///   - upgrading: Whether to migrate a store of an earlier version. If false, opening throws
    ///     `OpeningRefusal.earlierVersion`. Before a migration, end all processes of the earlier version that have the
    ///     store open, because they would no longer find their tables.
    ///   - busyTimeout: The maximum time to wait while another process writes.
    ///   - clockStart: The time with which the clock of the store begins, for a server the time of the wall clock. If
    ///     nil, the clock follows the server that runs on the file, or begins with the wall clock if none does.
    ///   - unsupported: The reporter of values that a newer version has written, and because of which this store does
    ///     not use a record.
    public convenience init(
        at path: String,
        createIfMissing: Bool = true,
        upgrading: Bool = true,
        busyTimeout: Duration = .seconds(5),
        clockStart: Date? = nil,
        reporting unsupported: UnsupportedValues = UnsupportedValues { _ in }
    ) throws(OpeningRefusal) {
        try self.init(
            at: path, createIfMissing: createIfMissing, upgrading: upgrading, through: Migration.all,
            busyTimeout: busyTimeout, clockStart: clockStart, reporting: unsupported)
    }

    /// Opens a store as the public initializer does, with the steps of the schema.
    init(
        at path: String, createIfMissing: Bool = true, upgrading: Bool = true, through steps: [Migration],
        busyTimeout: Duration = .seconds(5), clockStart: Date? = nil,
        reporting unsupported: UnsupportedValues = UnsupportedValues { _ in }
    ) throws(OpeningRefusal) {
        self.path = path
        var preUpgradeCopy: PreUpgradeCopy?
        switch try DatabaseFileKind(ofFileAt: path) {
        case .missing where !createIfMissing, .empty where !createIfMissing: throw .missing(path: path)
        case .missing: try Self.createFile(at: path)
        case .empty: break
        case .sqlite(let applicationID, let version) where applicationID == Self.applicationID:
            guard version != Self.movedVersion else { throw .moved(path: path, target: Self.target(ofFileAt: path)) }
            guard version <= steps.count else {
                throw .newerVersion(path: path, found: version, supported: steps.count)
            }
            guard upgrading || version == steps.count else {
                throw .earlierVersion(path: path, found: version, supported: steps.count)
            }
            if version < steps.count { preUpgradeCopy = PreUpgradeCopy(of: path, version: version) }
        case .sqlite(Self.unreleasedApplicationID, _): throw .unreleasedVersion(path: path)
        case .sqlite: throw .otherApplication(path: path)
        case .other: throw .notADatabase(path: path)
        }
        do {
            let endings = EndingsWatch()
            var configuration = Self.configuration(busyTimeout)
            configuration.prepareDatabase { database in
                if !database.configuration.readonly { endings.attach(to: database) }
            }
            let pool = try DatabasePool(path: path, configuration: configuration)
            try pool.writeWithoutTransaction(Self.makeDurable)
            if upgrading, preUpgradeCopy == nil { UnfinishedCopy.removeAbandoned(of: path) }
            copyOfEarlierVersion = try preUpgradeCopy.flatMap { copy in try copy.make(from: pool) ? copy.path : nil }
            try pool.writeWithoutTransaction { database in try Migration.run(database, through: steps) }
            let clock = try FileClock(
                following: pool.read { database in try database.connection.clockMark() }, orFrom: clockStart)
            let readers = try Readers(path: path, configuration: Self.configuration(busyTimeout, readonly: true))
            engine = SQLiteEngine(
                pool: pool, readers: readers, commits: CommitQueue(pool), clock: clock, endings: endings)
        } catch {
            throw OpeningRefusal(error, path: path)
        }
        database = SQLDatabase(engine, reporting: unsupported)
        proofs = ProcessProofs()
    }

    private init(_ store: SQLiteStore, for request: RequestContext) {
        path = store.path
        copyOfEarlierVersion = store.copyOfEarlierVersion
        engine = store.engine
        database = store.database.serving(request)
        proofs = store.proofs
    }

    /// Returns this store for the operations of one request.
    public func serving(_ request: RequestContext) -> SQLiteStore { SQLiteStore(self, for: request) }

    /// Completes the waiting commits, refuses later ones, and closes the file after a WAL checkpoint.
    public func close() async { await engine.close() }

    /// Notes the use of a DPoP proof, unless it was used before in this process.
    public func noteProof(_ proof: UsedProof, at now: Date) async throws(StoreFault) -> NoteProofOutcome {
        await proofs.noteProof(proof, at: now)
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
            if !database.configuration.readonly {
                try database.execute(sql: "PRAGMA journal_size_limit = \(CommitQueue.logSizeLimit)")
            }
        }
        return configuration
    }

    /// Configures the writer connection to sync each commit to the disk; throws if this is not possible.
    ///
    /// GRDB has set `synchronous` to NORMAL, with which a power failure can lose the last commits.
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
            throw .directoryNotUsable(path: directory, reason: "it cannot be created")
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
