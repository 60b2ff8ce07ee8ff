import ArgumentParser
import Foundation

/// The options of `serve` for what a restore needs.
struct EndingsOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "The file to which each revocation and sign-out is appended, for a restore. Put it on another disk. "
                + "(default: none)",
            valueName: "file"))
    var endingsJournal: String?

    /// The absolute path of the file; nil for none.
    var path: String? {
        endingsJournal.map { URL(fileURLWithPath: $0).standardizedFileURL.path }
    }

    /// Checks that this user can write the journal, and files beside it; creates nothing.
    func checkWritable() throws(CommandFailure) {
        guard let path, let obstacle = Self.obstacle(to: path) else { return }
        throw .refused(
            "--endings-journal: cannot write to \(obstacle.place): \(String(cString: strerror(obstacle.error)))")
    }

    /// Returns true if this user cannot write a journal, which another attempt does not change: the user may not, or
    /// the path leads nowhere.
    static func forbids(_ path: String) -> Bool {
        let lasting = [EACCES, EPERM, EROFS, ENOENT, ENOTDIR, EISDIR, ELOOP, ENAMETOOLONG]
        return obstacle(to: path).map { lasting.contains($0.error) } ?? false
    }

    /// Returns the file or directory that this user cannot write, with the error of the system; nil if there is none.
    private static func obstacle(to path: String) -> (place: String, error: CInt)? {
        var isDirectory: ObjCBool = false
        let exists = FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory)
        guard !isDirectory.boolValue else { return (path, EISDIR) }
        let directory = URL(fileURLWithPath: path).deletingLastPathComponent().path
        // Root gets EACCES for a file, which it cannot execute.
        if FileManager.default.fileExists(atPath: directory, isDirectory: &isDirectory), !isDirectory.boolValue {
            return (directory, ENOTDIR)
        }
        // A full file is renamed, so its directory counts in each case.
        for (place, mode) in [(directory, W_OK | X_OK)] + (exists ? [(path, R_OK | W_OK)] : []) {
            guard access(place, mode) == 0 else { return (place, errno) }
        }
        return nil
    }

    func validate() throws {
        guard endingsJournal?.isEmpty != true else { throw ValidationError("--endings-journal cannot be empty.") }
    }
}
