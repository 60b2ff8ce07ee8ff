import CoreFoundation
@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore
import Foundation

/// The directory of all persistent data: the database, the server key, the lock of the running server, and the
/// settings that this server last used.
struct DataDirectory {
    let path: String
    /// The key from which the server derives its other secrets.
    let serverKey: ServerKey
    let store: SQLiteStore

    /// Opens a data directory.
    ///
    /// Missing files and directories are created, accessible to their owner only.
    ///
    /// - Parameters:
    ///   - creating: Whether to create a missing database. If false, a missing database is an error.
    ///   - lock: The lock of the directory, if this process is the server; nil for an administration command.
    ///   - serverKey: The server key; nil for that of the environment or of the directory.
    ///   - unsupported: The reporter of values that a newer version has written; by default it prints a warning.
    init(
        at path: String, creating: Bool = true, lockedBy lock: ServingLock? = nil, serverKey: ServerKey? = nil,
        reporting unsupported: UnsupportedValues = UnsupportedValues { Output.note("warning: not shown: \($0)") }
    ) async throws {
        try Self.checkUser(of: path)
        self.path = path
        let database = Self.file("counterfoil.db", in: path)
        let keyFile = ServerKeyFile(in: path)
        let state = DataDirectoryState(of: path)
        let isNew = state == .new
        if let refusal = state.refusal(of: path) { throw refusal }
        guard creating || !isNew else {
            throw CommandFailure.refused(
                "no data directory found at \(path); check --data-dir, or start the server there first")
        }
        try Self.make(path)
        // Create the key before the database, so that an interrupted start never leaves a database without its key.
        let givenKey = try serverKey ?? ServerKey.given()
        if isNew, givenKey == nil { try keyFile.prepare() }
        do {
            store = try SQLiteStore(
                at: database, createIfMissing: !state.isUsed, upgrading: lock != nil,
                clockStart: lock == nil ? nil : Date(), reporting: unsupported)
        } catch .earlierVersion {
            store = try Self.upgrade(database, in: path, reporting: unsupported)
        } catch .missing {
            throw DataDirectoryState.lost(path)
        } catch {
            throw CommandFailure(error)
        }
        do {
            if let givenKey { self.serverKey = givenKey } else { self.serverKey = try await keyFile.key(of: store) }
        } catch {
            await store.close()
            throw error
        }
    }

    /// Opens a data directory of this version for an examination; throws ``CommandFailure`` for any other.
    ///
    /// The permissions of the server key are a finding of their own.
    init(existing path: String) throws {
        try Self.checkUser(of: path)
        self.path = path
        do {
            store = try SQLiteStore(
                at: Self.file("counterfoil.db", in: path), createIfMissing: false, upgrading: false,
                reporting: UnsupportedValues { Output.note("warning: not shown: \($0)") })
        } catch { throw CommandFailure(error) }
        serverKey = try ServerKey.given() ?? ServerKeyFile(in: path).read(checkingMode: false)
    }

    /// The key in the directory; nil if it has none, because the environment contains the key of its server.
    var ownServerKey: ServerKey? {
        get throws {
            let file = ServerKeyFile(in: path)
            return FileManager.default.fileExists(atPath: file.path) ? try file.read() : nil
        }
    }

    /// Reads the server key of a directory without creating it; a directory without a key gets one at the first start.
    static func checkServerKey(in path: String) throws {
        // The packages run this check as root, which reads nothing in a directory of the user of the server.
        guard (try? checkUser(of: path)) != nil else { return }
        let file = ServerKeyFile(in: path)
        guard try ServerKey.given() == nil, FileManager.default.fileExists(atPath: file.path) else { return }
        _ = try file.read()
    }

    /// The store, the server key and the settings in the directory.
    var installation: Installation {
        Installation(
            store: store, serverKey: serverKey, recorded: recorded, options: "--data-dir \(ShellText.quoted(path))",
            note: { [path, store, serverKey] settings in
                try Self.noting.withLock { _ in
                    let former = Self.recordedSettings(in: path)
                    var settings = settings.following(former)
                    settings.serverKeyUses = former.serverKeyUses
                    settings.serverKeyUses.note(serverKey.fingerprints, at: store.now(), isAlone: true)
                    settings.databaseFile = Self.databaseFile(in: path)
                    try Self.note(settings, in: path)
                }
            },
            noteKeptToken: { [path] fingerprint, time in
                try Self.noting.withLock { _ in
                    var settings = Self.recordedSettings(in: path)
                    settings.serverKeyUses.noteKeptToken(of: fingerprint, at: time)
                    try Self.note(settings, in: path)
                }
            })
    }

    /// Orders the changes of the noted settings, which only the process of the server makes.
    private static let noting = Mutex(())

    private var recorded: RecordedSettings { Self.recordedSettings(in: path) }

    /// Reads the settings of the server that last ran on a directory.
    static func recordedSettings(in path: String) -> RecordedSettings {
        let place = file(recordedSettingsName, in: path)
        guard (try? checkUser(of: path)) != nil,
            let data = try? RegularFile(at: place, followingLinks: false).bytes(limit: recordedLimit)
        else { return RecordedSettings { _ in nil } }
        if let texts = try? JSONDecoder().decode([String: String].self, from: Data(data)) {
            return RecordedSettings { texts[$0] }
        }
        Output.note("warning: \(place) is damaged, so the settings of the server are not known; start the server again")
        return RecordedSettings { _ in nil }
    }

    /// Returns the path of the endings journal to which commands write, too; nil for none.
    ///
    /// The noted settings are also in a copy of a directory, and what ends in the copy has not ended in the store of
    /// the journal. So the database must be the file on which the server ran.
    static func journal(recordedIn recorded: RecordedSettings, in path: String) -> String? {
        guard let journal = recorded.endingsJournal else { return nil }
        guard let own = databaseFile(in: path), own == recorded.databaseFile else {
            Output.note(
                "warning: no server has run on the database of \(path), which is a copy or was restored; this command "
                    + "writes nothing to the endings journal \(journal)")
            return nil
        }
        return journal
    }

    private static func databaseFile(in path: String) -> String? {
        FileIdentity(of: file("counterfoil.db", in: path))?.text
    }

    /// Opens the database of a directory without its server key, while a server may run on it.
    static func openForCopy(_ path: String) throws -> SQLiteStore {
        try checkUser(of: path)
        let database = file("counterfoil.db", in: path)
        do {
            return try SQLiteStore(at: database, createIfMissing: false, upgrading: false)
        } catch .missing {
            throw DataDirectoryState(of: path).refusal(of: path)
                ?? CommandFailure.refused("no data directory found at \(path); check --data-dir")
        } catch {
            throw CommandFailure(error)
        }
    }

    /// The name of the file with the settings of the server that last ran on the directory.
    static let recordedSettingsName = "last-settings.json"
    /// The largest size of that file in bytes that is read.
    private static let recordedLimit = 1 << 20

    /// Stores the settings of this server that administration commands need.
    ///
    /// One file replaces the former one, so an error leaves all settings as they were.
    static func note(_ settings: RecordedSettings, in path: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let data = try encoder.encode(settings.named) + Data("\n".utf8)
        do {
            try DraftFile.replace(file(recordedSettingsName, in: path), with: Array(data))
        } catch let failure as DraftFile.Failure {
            throw CommandFailure(failure)
        }
    }

    /// Migrates a database to this version.
    ///
    /// The migration fails if a server holds the lock of the directory: that server is of an earlier version, or is
    /// just starting.
    private static func upgrade(
        _ database: String, in path: String, reporting unsupported: UnsupportedValues
    ) throws -> SQLiteStore {
        let held = try lock(
            path,
            orRefuse: "the data directory \(path) is of an earlier version, and a server runs on it; "
                + "if the server is of that version, stop it; otherwise try again after it has started")
        defer { withExtendedLifetime(held) {} }
        let store: SQLiteStore
        do { store = try SQLiteStore(at: database, reporting: unsupported) } catch { throw CommandFailure(error) }
        report(store)
        return store
    }

    /// Says where the former state of a database is that was upgraded.
    static func report(_ store: SQLiteStore) {
        guard let copy = store.copyOfEarlierVersion else { return }
        Output.note("The database was upgraded; its former state is in \(copy).")
    }

    /// Locks a directory for a server, before any other access to the directory.
    ///
    /// The lock is held until the returned value is destroyed or the process ends.
    static func lockForServing(_ path: String) throws -> ServingLock {
        try checkUser(of: path)
        try make(path)
        return try lock(
            path,
            orRefuse: "another server runs on \(path); stop it first, or choose another directory with --data-dir")
    }

    /// Locks an existing directory for a command during which no server may run; the message is for one that does.
    static func lock(existing path: String, orRefuse refusal: String) throws -> ServingLock {
        try checkUser(of: path)
        let state = DataDirectoryState(of: path)
        if let refusal = state.refusal(of: path) { throw refusal }
        guard state != .new else { throw CommandFailure.refused("no data directory found at \(path); check the path") }
        return try lock(path, orRefuse: refusal)
    }

    private static func lock(_ path: String, orRefuse refusal: String) throws -> ServingLock {
        try ServingLock(path: file("server.lock", in: path), orRefuse: refusal)
    }

    /// Throws for root if another user can write to a directory, before anything in it is opened.
    ///
    /// That user decides where the links in the directory lead, and names the file of the endings journal. Root would
    /// follow both. A missing directory passes.
    static func checkUser(of path: String) throws(CommandFailure) {
        var status = stat()
        guard geteuid() == 0, stat(path, &status) == 0 else { return }
        guard status.st_uid == 0 else {
            let name = getpwuid(status.st_uid).map { String(cString: $0.pointee.pw_name) } ?? "#\(status.st_uid)"
            throw CommandFailure.refused(
                "the data directory \(path) belongs to the user \(name), so root does not open it; run the command with "
                    + "sudo -u \(ShellText.quoted(name))")
        }
        // With the sticky bit, too, others can add files.
        guard status.st_mode & 0o022 == 0 || status.st_mode & S_IFMT != S_IFDIR else {
            throw CommandFailure.refused(
                "other users can write to the data directory \(path), so root does not open it; check that its files belong "
                    + "to root, and run: chmod 700 \(ShellText.quoted(path))")
        }
    }

    private static func make(_ path: String) throws {
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw CommandFailure.refused(
                "cannot create the data directory \(path); choose another one with --data-dir, or grant this user "
                    + "write permission")
        }
    }

    static func file(_ name: String, in directory: String) -> String {
        URL(fileURLWithPath: directory).appendingPathComponent(name).path
    }
}
