import CoreFoundation
import CounterfoilSQLite
import Foundation

/// The file to which a copy of a data directory is written.
struct BackupOutput {
    let path: String
    /// Whether an existing file is replaced.
    let replaces: Bool
    /// The data directory that is copied.
    let directory: String
    /// The settings of the server that last ran on the directory.
    let recorded: RecordedSettings

    /// The path of the copy until it is complete.
    var draft: String { path + ".partial" }

    /// Checks that the copy replaces nothing but another copy; changes nothing.
    func check() throws(CommandFailure) {
        try checkPlace()
        try checkFilesOfServer()
        try checkReplaced()
    }

    /// Throws if the output is in the data directory, also by way of a link.
    private func checkPlace() throws(CommandFailure) {
        guard let data = FileIdentity(of: directory) else { return }
        let parent = path.lastIndex(of: "/").map { path[...$0] } ?? "."
        // Without its directory, the output cannot be written.
        guard let resolved = realpath(String(parent), nil) else { return }
        defer { free(resolved) }
        var place = URL(fileURLWithPath: String(cString: resolved))
        while true {
            guard FileIdentity(of: place.path) != data else {
                throw .refused(
                    "--output: \(path) is in the data directory \(directory); name a file outside of it, on another disk "
                        + "if there is one; nothing was changed")
            }
            guard place.path != "/" else { return }
            place.deleteLastPathComponent()
        }
    }

    /// Throws if the output, or its draft, is a file that the server uses.
    private func checkFilesOfServer() throws(CommandFailure) {
        for (file, name) in filesOfServer {
            guard let identity = FileIdentity(of: file) else { continue }
            for output in [path, draft] where FileIdentity(of: output) == identity {
                throw .refused(
                    "--output: \(output) is \(name) of the server; name another file; nothing was changed")
            }
        }
    }

    /// The files of the server, which can also have a name outside of the data directory.
    private var filesOfServer: [(path: String, name: String)] {
        let data = URL(fileURLWithPath: directory)
        // SQLite keeps the WAL beside the file to which a link leads.
        let database = data.appendingPathComponent("counterfoil.db").resolvingSymlinksInPath().path
        let others = recorded.files.map { file, path in
            (path: path, name: file == .endingsJournal ? "the endings journal" : "a file (\(file.rawValue))")
        }
        return others + [
            (database, "the database"), (database + "-wal", "the write-ahead log"),
            (database + "-shm", "the shared memory of the database"),
            (data.appendingPathComponent("server.key").path, "the server key"),
        ]
    }

    /// Throws if a file exists that the copy may not replace.
    private func checkReplaced() throws(CommandFailure) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        if status.st_mode & S_IFMT == S_IFLNK, stat(path, &status) != 0 {
            throw .refused("--output: \(path) is a link to a file that does not exist; name another file")
        }
        guard status.st_mode & S_IFMT != S_IFDIR else { throw .refused("--output: \(path) is a directory") }
        guard replaces else {
            throw .refused("--output: the file \(path) exists; name another one, or use --replace if it is a copy")
        }
        // Without O_NONBLOCK, a FIFO would wait for another program.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw unlike(String(cString: strerror(errno))) }
        defer { close(descriptor) }
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw unlike("it is not a regular file")
        }
        do { try CopyRecord.check(fileOn: descriptor) } catch {
            switch error {
            case .empty: return
            case .plainDatabase: throw unlike("it is a database, which a server may use")
            case .notACopy: throw unlike("it is another file")
            default: throw unlike("\(error)")
            }
        }
    }

    private func unlike(_ reason: String) -> CommandFailure {
        .refused(
            "--output: \(path) is not a copy that backup has made (\(reason)), so --replace does not replace it; name "
                + "another file, or move this one away; nothing was changed")
    }
}

extension CommandFailure {
    /// Creates a failure from an error of a draft; a retry solves none that is for want of a permission or a directory.
    ///
    /// - Parameter beginning: The beginning of the message.
    init(_ failure: DraftFile.Failure, _ beginning: String = "") {
        switch failure {
        case .system(_, let code) where EndingsOptions.lastingErrors.contains(code):
            self = .refused(
                "\(beginning)\(failure); let this user write to its directory, or name another place")
        case .system, .isInUse: self = .temporary("\(beginning)\(failure)")
        }
    }
}
