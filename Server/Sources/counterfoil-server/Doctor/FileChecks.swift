import CounterfoilServer
import Foundation

extension ServerFindings {
    /// The age in seconds after which a backup is called old, as in the alert: a day, and the time until an operator
    /// looks.
    private static let backupAge: TimeInterval = 2 * 86_400
    /// The remedy for copies that another program makes, such as snapshots of the volume.
    private static let otherBackup =
        "if another program copies the directory, let it touch \(LastBackup.fileName) there after each copy, as the user "
        + "of the server"
    /// The smallest number of free bytes with which a disk is not called full soon.
    private static let freeBytesWanted = 512 << 20
    /// The number of free bytes below which commits can fail at any time.
    private static let freeBytesNeeded = 64 << 20
    /// The size of a write-ahead log that a checkpoint cannot have reached for a while.
    private static let logBytes = 128 << 20

    /// Checks the permissions and sizes of the files in a data directory, the disk, the age of the last backup, and the
    /// process of the server.
    ///
    /// - Parameter recorded: The settings of the server that last ran on the directory.
    mutating func check(_ files: DataDirectoryFiles, recorded: RecordedSettings) {
        let state = DataDirectoryState(of: files.path)
        if let refusal = state.refusal(of: files.path) {
            return fault(
                state == .restoring ? "restore-incomplete" : "database-lost", saying: refusal.message,
                orElse: "restore a copy")
        }
        guard let directory = files.state(), let database = files.state(of: "counterfoil.db") else {
            return fault(
                "data-directory-missing", "there is no data directory at \(files.path)",
                mend: "correct --data-dir, or run this command as the user of the server")
        }
        let names = ["counterfoil.db", "counterfoil.db-wal", "counterfoil.db-shm", "server.key", "server.lock"]
        judgePermissions(of: names.compactMap { files.state(of: $0) }, in: directory)
        judgeDisk(
            free: files.freeBytes, database: database.bytes, log: files.state(of: "counterfoil.db-wal")?.bytes ?? 0)
        judgePreUpgradeCopies(files.preUpgradeCopies)
        checkServer(files, connections: recorded.connections)
        judgeBackup(
            at: files.state(of: LastBackup.fileName)?.modified, isTimed: BackupTimer.copies(files.path), now: Date())
    }

    /// Judges the permissions and owners of the files in a data directory.
    mutating func judgePermissions(of files: [FileState], in directory: FileState) {
        let open = files.filter { $0.mode & 0o077 != 0 }.map(\.path)
        if !open.isEmpty {
            fault(
                "files-readable", "other users can access \(open.joined(separator: ", "))",
                mend: "chmod 600 \(open.map(ShellText.quoted).joined(separator: " "))")
        }
        if directory.mode & 0o022 != 0 {
            fault(
                "directory-writable",
                "other users can write to \(directory.path)" + (geteuid() == 0 ? ", so root does not open it" : ""),
                mend: "chmod 700 \(ShellText.quoted(directory.path))")
        }
        let foreign = files.filter { $0.owner != directory.owner }.map(\.path)
        if !foreign.isEmpty {
            fault(
                "files-of-another-user",
                "\(foreign.joined(separator: ", ")) and the directory belong to different users",
                mend: "give all files to the user of the server with chown, and run commands as this user")
        }
        if open.isEmpty, directory.mode & 0o022 == 0, foreign.isEmpty {
            sound("permissions", "only the owner can access the data in \(directory.path)")
        }
    }

    /// Checks the files outside of the data directory that the settings name.
    ///
    /// - Parameter host: The other machine whose server has noted the settings; nil for this machine. A path in its
    ///   settings can lead to another file here.
    mutating func checkFiles(namedIn recorded: RecordedSettings, onHost host: String?, serverKeyFile: String?) {
        guard let host else { return checkPermissions(ofFilesIn: recorded, serverKeyFile: serverKeyFile) }
        advise(
            "settings-of-another-host",
            "the settings are those of the server on \(host), and the files that they name were not checked",
            mend: "run this command on \(host), as the user of the server")
        checkPermissions(ofFilesIn: RecordedSettings { _ in nil }, serverKeyFile: serverKeyFile)
    }

    /// Checks the permissions of the files outside of the data directory that the settings name.
    private mutating func checkPermissions(ofFilesIn recorded: RecordedSettings, serverKeyFile: String?) {
        var paths = recorded.files
        if let serverKeyFile { paths[.serverKey] = serverKeyFile }
        judgePermissions(
            of: RecordedSettings.File.allCases.compactMap { file in
                paths[file].flatMap { FileState(at: $0) }.map { (file: file, state: $0) }
            })
    }

    /// Judges the permissions of files that the settings name.
    mutating func judgePermissions(of files: [(file: RecordedSettings.File, state: FileState)]) {
        guard !files.isEmpty else { return }
        // Every user may read the settings and public keys. A group may read the keys for TLS.
        let open = files.filter { file, state in state.mode & file.forbidden & 0o055 != 0 }
        if !open.isEmpty {
            let paths = open.map { $0.state.path }
            fault(
                "secrets-readable", "other users can read \(paths.joined(separator: ", "))",
                mend: open.map { "chmod \($0.file.mend) \(ShellText.quoted($0.state.path))" }.joined(separator: "; "))
        }
        let writable = files.filter { file, state in state.mode & file.forbidden & 0o022 != 0 }
        if !writable.isEmpty {
            let paths = writable.map { $0.state.path }
            fault(
                "files-writable", "other users can change \(paths.joined(separator: ", "))",
                mend: "chmod go-w \(paths.map(ShellText.quoted).joined(separator: " "))")
        }
        if open.isEmpty, writable.isEmpty {
            sound(
                "permissions-of-settings",
                "other users can neither change the settings nor read the secrets: "
                    + files.map { $0.state.path }.joined(separator: ", "))
        }
    }

    /// Judges the sizes of the database and of its write-ahead log, and the free bytes of the disk.
    mutating func judgeDisk(free: Int?, database: Int, log: Int) {
        if log > Self.logBytes {
            advise(
                "log-large", "the write-ahead log of the database has \(ByteCount(log))",
                mend: "end programs that keep the database open, such as sqlite3; then the server shortens the log")
        }
        guard let free else { return }
        let sizes =
            "\(ByteCount(free)) are free; the database has \(ByteCount(database)), its write-ahead log \(ByteCount(log))"
        if free < Self.freeBytesNeeded {
            fault("disk-full", "the disk is nearly full: \(sizes)", mend: "free disk space; commits fail without it")
        } else if free < max(Self.freeBytesWanted, database) {
            advise(
                "disk-space", "the disk has little space: \(sizes)",
                mend: "make room: an upgrade copies the database first, and a full disk ends sign-ins")
        } else {
            sound("disk", sizes)
        }
    }

    private mutating func judgePreUpgradeCopies(_ names: [String]) {
        guard !names.isEmpty else { return }
        advise(
            "former-copies", "upgrades have left copies of the database: \(names.joined(separator: ", "))",
            mend: "delete them when the new version has proved itself")
    }

    /// Judges the time of the last backup; nil if there is none.
    ///
    /// - Parameter isTimed: Whether the timer of the package copies the data directory.
    mutating func judgeBackup(at time: Date?, isTimed: Bool, now: Date) {
        guard let time else {
            return advise(
                "backup-missing", "counterfoil-server backup has never made a copy",
                mend: isTimed
                    ? "wait for the night, in which \(BackupTimer.unit) makes the first copy, or run systemctl start "
                        + BackupTimer.service
                    : "have a timer or a job run counterfoil-server backup each night, and keep the copies on another "
                        + "machine; \(Self.otherBackup)")
        }
        let text = "the last backup was made on \(Moment.text(time))"
        guard now.timeIntervalSince(time) <= Self.backupAge else {
            return fault(
                "backup-old", text,
                mend: isTimed
                    ? "see why \(BackupTimer.unit) made no copy since: journalctl --unit \(BackupTimer.service)"
                    : "check the timer or the job that runs counterfoil-server backup; \(Self.otherBackup)")
        }
        sound("backup", text)
    }
}

/// The timer of the package, which copies its data directory each night.
private enum BackupTimer {
    static let service = "counterfoil-backup"
    static let unit = "counterfoil-backup.timer"

    /// Returns true if the timer is enabled, and the directory is the one of the package.
    static func copies(_ directory: String) -> Bool {
        URL(fileURLWithPath: directory).standardizedFileURL.path == "/var/lib/counterfoil"
            && FileManager.default.fileExists(atPath: "/etc/systemd/system/timers.target.wants/\(unit)")
    }
}

extension RecordedSettings.File {
    /// The permissions of other users that a file must not have.
    fileprivate var forbidden: Int {
        switch self {
        case .endingsJournal, .serverKey: 0o077
        case .tlsKey, .externalAccountKey, .mailCredentials: 0o027
        case .settings, .externalSignInKeys: 0o022
        }
    }

    /// The mode that takes away the permission to read.
    fileprivate var mend: String {
        switch self {
        case .endingsJournal, .serverKey: "600"
        case .tlsKey, .externalAccountKey, .mailCredentials: "o-rwx"
        case .settings, .externalSignInKeys: "go-w"
        }
    }
}
