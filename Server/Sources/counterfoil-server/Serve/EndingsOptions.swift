import ArgumentParser
import CoreFoundation
import Foundation

extension Settings {
    static let endingsJournal = Setting<String?>(
        "endings-journal", .text, value: "file", example: "/var/lib/counterfoil-journal/endings",
        "The file to which each revocation and sign-out is appended, for a restore. Put it on another disk. "
            + "(default: none)")
}

/// The options of `serve` for what a restore needs.
struct EndingsOptions: SettingGroup {
    static let title = "Restore"

    @Option(Settings.endingsJournal) var endingsJournal: String?

    static let options: [SettingOption<Self>] = [.init(Settings.endingsJournal, \.endingsJournal)]

    /// Returns true if this user cannot write a journal, which another attempt does not change: the user may not, the
    /// path leads nowhere, or there is something else.
    static func forbids(_ path: String) -> Bool {
        obstacle(to: path).map { obstacle in obstacle.error.map(lastingErrors.contains) ?? true } ?? false
    }

    /// The errors of the system that another attempt to write a file does not change.
    static let lastingErrors = [EACCES, EPERM, EROFS, ENOENT, ENOTDIR, EISDIR, ELOOP, ENAMETOOLONG]

    /// A file or directory that keeps this user from writing a journal.
    struct Obstacle: CustomStringConvertible {
        let path: String
        /// The error of the system; nil if there is something other than a regular file or a directory.
        let error: CInt?

        /// Whether there is something other than a regular file, which no permission changes.
        var isOtherKind: Bool { error == nil || error == EISDIR }

        var description: String {
            error.map { "cannot write to \(path): \(String(cString: strerror($0)))" }
                ?? "\(path) is not a regular file; name another file"
        }
    }

    /// Returns what keeps this user from writing a journal; nil if nothing does.
    static func obstacle(to path: String) -> Obstacle? {
        var status = stat()
        // The journal is not opened through a link.
        let exists = lstat(path, &status) == 0
        let error = errno
        if exists {
            switch status.st_mode & S_IFMT {
            case S_IFREG: break
            case S_IFDIR: return Obstacle(path: path, error: EISDIR)
            default: return Obstacle(path: path, error: nil)
            }
        }
        let directory = URL(fileURLWithPath: path).deletingLastPathComponent().path
        // Root gets EACCES for a file, which it cannot execute.
        var parent = stat()
        if stat(directory, &parent) == 0, parent.st_mode & S_IFMT != S_IFDIR {
            return Obstacle(path: directory, error: ENOTDIR)
        }
        // A full file is renamed, so its directory counts in each case.
        for (path, mode) in [(directory, W_OK | X_OK)] + (exists ? [(path, R_OK | W_OK)] : []) {
            guard access(path, mode) == 0 else { return Obstacle(path: path, error: errno) }
        }
        // A missing file is created; a name that is too long, for example, stays so.
        return exists || error == ENOENT ? nil : Obstacle(path: path, error: error)
    }
}

extension ServeConfiguration {
    /// The absolute path of the endings journal; nil for none.
    var journalPath: String? {
        self[Settings.endingsJournal].map { URL(fileURLWithPath: $0).standardizedFileURL.path }
    }

    /// Checks that this user can write the journal, and files beside it; creates nothing.
    func checkJournal() throws(CommandFailure) {
        guard let path = journalPath, let obstacle = EndingsOptions.obstacle(to: path) else { return }
        throw .refused(words("\(Settings.endingsJournal): \(obstacle)"))
    }
}
