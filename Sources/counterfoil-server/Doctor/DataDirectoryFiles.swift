import CounterfoilServer
import CounterfoilWeb
import Foundation

/// The files of a data directory, as the system describes them; none is opened.
struct DataDirectoryFiles {
    /// The attributes of a file that the checks need.
    struct State {
        /// The permission bits, such as 0o600.
        let mode: Int
        let owner: Int
        let bytes: Int
        let modified: Date
        let inode: Int
    }

    let path: String

    func path(of name: String) -> String { URL(fileURLWithPath: path).appendingPathComponent(name).path }

    /// The state of the directory, or of a file in it; nil if it is missing.
    func state(of name: String? = nil) -> State? {
        let file = name.map(path(of:)) ?? path
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: file) else { return nil }
        func number(_ key: FileAttributeKey) -> Int { (attributes[key] as? NSNumber)?.intValue ?? 0 }
        return State(
            mode: number(.posixPermissions), owner: number(.ownerAccountID), bytes: number(.size),
            modified: attributes[.modificationDate] as? Date ?? .distantPast, inode: number(.systemFileNumber))
    }

    /// The free bytes of the disk, for users who are not root; nil if the system does not say.
    var freeBytes: Int? {
        let attributes = try? FileManager.default.attributesOfFileSystem(forPath: path)
        return (attributes?[.systemFreeSize] as? NSNumber)?.intValue
    }

    /// The names of the copies that upgrades have left.
    var formerCopies: [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return names.filter { $0.hasPrefix("counterfoil.db.version-") }.sorted()
    }
}

extension ServerFindings {
    /// The age in seconds after which a backup is called old: a day, and the time until an operator looks.
    private static let backupAge: TimeInterval = 2 * 86_400
    /// The smallest number of free bytes with which a disk is not called full soon.
    private static let freeBytesWanted = 512 << 20
    /// The number of free bytes below which commits can fail at any time.
    private static let freeBytesNeeded = 64 << 20
    /// The size of a write-ahead log that a checkpoint cannot have reached for a while.
    private static let logBytes = 128 << 20

    /// Checks the permissions and sizes of the files in a data directory, the disk, and the age of the last backup.
    mutating func check(_ files: DataDirectoryFiles) {
        guard let directory = files.state(), let database = files.state(of: "counterfoil.db") else {
            return fault(
                "data-directory-missing", "there is no data directory at \(files.path)",
                mend: "correct --data-dir, or run this command as the user of the server")
        }
        checkPermissions(files, directory: directory)
        checkDisk(files, database: database)
        checkServer(files)
        guard let backup = files.state(of: LastBackup.fileName) else {
            return advise(
                "backup-missing", "counterfoil-server backup has never made a copy",
                mend: "run counterfoil-server backup each night, and keep the copies on another machine")
        }
        let age = Date().timeIntervalSince(backup.modified)
        guard age < Self.backupAge else {
            return advise(
                "backup-old", "the last backup was made on \(Moment.text(backup.modified))",
                mend: "check the timer or the job that runs counterfoil-server backup")
        }
        sound("backup", "the last backup was made on \(Moment.text(backup.modified))")
    }

    private mutating func checkPermissions(_ files: DataDirectoryFiles, directory: DataDirectoryFiles.State) {
        let names = ["counterfoil.db", "counterfoil.db-wal", "counterfoil.db-shm", "server.key", "server.lock"]
        let states = names.compactMap { name in files.state(of: name).map { (name, $0) } }
        let open = states.filter { $0.1.mode & 0o077 != 0 }.map { files.path(of: $0.0) }
        if !open.isEmpty {
            fault(
                "files-readable", "other users can access \(open.joined(separator: ", "))",
                mend: "chmod 600 \(open.map(ShellText.quoted).joined(separator: " "))")
        }
        if directory.mode & 0o022 != 0 {
            fault(
                "directory-writable", "other users can write to \(files.path)",
                mend: "chmod 700 \(ShellText.quoted(files.path))")
        }
        let foreign = states.filter { $0.1.owner != directory.owner }.map { files.path(of: $0.0) }
        if !foreign.isEmpty {
            fault(
                "files-of-another-user",
                "\(foreign.joined(separator: ", ")) and the directory belong to different users",
                mend: "give all files to the user of the server with chown, and run commands as this user")
        }
        if open.isEmpty, directory.mode & 0o022 == 0, foreign.isEmpty {
            sound("permissions", "only the owner can access the data in \(files.path)")
        }
    }

    private mutating func checkDisk(_ files: DataDirectoryFiles, database: DataDirectoryFiles.State) {
        let log = files.state(of: "counterfoil.db-wal")?.bytes ?? 0
        if log > Self.logBytes {
            advise(
                "log-large", "the write-ahead log of the database has \(ByteCount(log))",
                mend: "end programs that keep the database open, such as sqlite3; then the server shortens the log")
        }
        if !files.formerCopies.isEmpty {
            let names = files.formerCopies.joined(separator: ", ")
            advise(
                "former-copies", "upgrades have left copies of the database: \(names)",
                mend: "delete them when the new version has proved itself")
        }
        guard let free = files.freeBytes else { return }
        let sizes = "\(ByteCount(free)) are free; the database has \(ByteCount(database.bytes))"
        if free < Self.freeBytesNeeded {
            fault("disk-full", "the disk is nearly full: \(sizes)", mend: "free disk space; commits fail without it")
        } else if free < max(Self.freeBytesWanted, database.bytes) {
            advise(
                "disk-space", "the disk has little space: \(sizes)",
                mend: "make room: an upgrade copies the database first, and a full disk ends sign-ins")
        } else {
            sound("disk", sizes)
        }
    }

    /// Checks the process that holds the lock of the directory: its open files against the limit of connections.
    private mutating func checkServer(_ files: DataDirectoryFiles) {
        #if os(Linux)
            guard let lock = files.state(of: "server.lock") else {
                return advise(
                    "not-running", "no server has run on this directory", mend: "start counterfoil-server serve")
            }
            guard let process = ProcessOfLock(inode: lock.inode) else {
                return advise(
                    "not-running", "no server runs on this directory, so the checks of a running one are incomplete",
                    mend: "start counterfoil-server serve, and run this command again")
            }
            guard let limit = process.openFilesLimit else {
                return advise(
                    "process-closed", "the server runs (process \(process.identifier)), and its limits cannot be read",
                    mend: "run this command as the user of the server")
            }
            let wanted = ConnectionLimits.standard.total + ConnectionLimits.reservedDescriptors
            // The system hides the open files of a process with a capability, also from its own user.
            let used = process.openFiles
            let count = used.map { "has \($0) files open, of at most \(limit)" } ?? "may have \(limit) files open"
            let state = "the server (process \(process.identifier)) \(count)"
            if let used, used * 10 > limit * 9 {
                fault(
                    "descriptors-used", state,
                    mend: "raise LimitNOFILE= in the systemd unit, or the hard limit of ulimit -n")
            } else if limit < wanted {
                advise(
                    "descriptors-few", "\(state); \(wanted) are needed for the standard number of connections",
                    mend: "raise LimitNOFILE= in the systemd unit, or lower --connections")
            } else {
                sound("descriptors", state)
            }
        #endif
    }
}

/// A number of bytes, printed with a unit.
struct ByteCount: CustomStringConvertible {
    let bytes: Int

    init(_ bytes: Int) { self.bytes = bytes }

    var description: String {
        let (kilo, mega, giga) = (1 << 10, 1 << 20, 1 << 30)
        switch bytes {
        case ..<mega: return "\((bytes + kilo - 1) / kilo) KiB"
        case ..<giga: return "\(bytes / mega) MiB"
        default: return "\(bytes / giga).\(bytes % giga * 10 / giga) GiB"
        }
    }
}
