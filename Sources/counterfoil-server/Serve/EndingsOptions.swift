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

    func validate() throws {
        guard endingsJournal?.isEmpty != true else { throw ValidationError("--endings-journal cannot be empty.") }
    }
}
