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
        throw .refused("--endings-journal: \(obstacle)")
    }

    /// Returns true if this user may not write a journal, which another attempt does not change.
    static func forbids(_ path: String) -> Bool {
        obstacle(to: path).map { [EACCES, EPERM, EROFS].contains($0.error) } ?? false
    }

    /// A file or directory that this user cannot write, with the error of the system.
    struct Obstacle: CustomStringConvertible {
        let place: String
        let error: CInt

        var description: String { "cannot write to \(place): \(String(cString: strerror(error)))" }
    }

    /// Returns the file or directory that this user cannot write, with the error of the system; nil if there is none.
    static func obstacle(to path: String) -> Obstacle? {
        let exists = FileManager.default.fileExists(atPath: path)
        let directory = URL(fileURLWithPath: path).deletingLastPathComponent().path
        // A full file is renamed, so its directory counts in each case.
        for (place, mode) in [(directory, W_OK | X_OK)] + (exists ? [(path, R_OK | W_OK)] : []) {
            guard access(place, mode) == 0 else { return Obstacle(place: place, error: errno) }
        }
        return nil
    }

    func validate() throws {
        guard endingsJournal?.isEmpty != true else { throw ValidationError("--endings-journal cannot be empty.") }
    }
}
