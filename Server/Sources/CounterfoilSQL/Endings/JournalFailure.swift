import Foundation

/// An error because of which an endings journal cannot be written.
package enum JournalFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The file cannot be opened, locked, read or written.
    case failed(path: String, reason: String)
    /// The last line is not one of an endings journal.
    case notAJournal(path: String)
    /// The file is the journal of another store, or of this one before it was restored without it.
    case ofAnotherStore(path: String)
    /// The journal has endings that the last restore of its store did not have.
    case restoredWithout(path: String)
    /// The journal has endings that its store lacks.
    case aheadOfStore(path: String)
    /// The store cannot be read.
    case store(String)

    /// Returns the failure for the last error of the system.
    static func system(_ verb: String, _ path: String) -> JournalFailure {
        // Another user who can write to its directory can put a link there.
        let reason = errno == ELOOP ? "it is a link; name the file itself" : String(cString: strerror(errno))
        return .failed(path: path, reason: "cannot \(verb) it: \(reason)")
    }

    package var description: String {
        switch self {
        case .failed(let path, let reason): "the endings journal \(path) cannot be used (\(reason))"
        case .notAJournal(let path):
            "\(path) is not an endings journal, or a newer version has written it; name a new file"
        case .ofAnotherStore(let path):
            "\(path) is the endings journal of another server, or of this one before a restore; restore the database "
                + "of that server, or, if the restore has ended what the file names, name a new file"
        case .restoredWithout(let path):
            "the database was restored without the last endings of \(path), so what had ended is valid in it; stop "
                + "every server, and run after-restore with the files of every server"
        case .aheadOfStore(let path):
            "the store lacks endings of its endings journal \(path), so what had ended is valid in it; stop every "
                + "server, and run after-restore --endings-journal \(path)*"
        case .store(let reason): reason
        }
    }
}
