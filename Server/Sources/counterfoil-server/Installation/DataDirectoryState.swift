import Foundation

/// The state of a data directory by the names of its files, none of which is opened.
///
/// A server that began with an empty database in place of a lost one, or of one that is being restored, would take away
/// every user and every session.
enum DataDirectoryState: Hashable {
    /// There is no database yet, and nothing of an earlier one.
    case new
    /// There is a database.
    ///
    /// It is in use if the directory has its key, or the settings of a server. Otherwise its first start may have been
    /// interrupted, or the key is elsewhere.
    case database(isUsed: Bool)
    /// A restore has begun and is not complete.
    case restoring
    /// There was a database.
    case lost

    /// Reads the state of a directory, in which another process may create a database meanwhile.
    init(of directory: String) {
        func has(_ name: String) -> Bool {
            FileManager.default.fileExists(atPath: DataDirectory.file(name, in: directory))
        }
        // A new database is there before what shows that it was: so look at it last.
        let isUsed = has("server.key") || has(DataDirectory.recordedSettingsName)
        let isRestoring = has(RestoreTarget.draftName)
        let database = FileState(at: DataDirectory.file("counterfoil.db", in: directory))
        // A process that is killed while it creates the database can leave an empty file.
        switch database.map({ $0.bytes > 0 }) {
        case true?: self = .database(isUsed: isUsed)
        case _ where isRestoring: self = .restoring
        case _ where isUsed: self = .lost
        case _: self = .new
        }
    }

    /// Whether the directory had a database, so that none is created.
    var isUsed: Bool { self != .new && self != .database(isUsed: false) }

    /// Returns the reason why nothing may use a directory in this state; nil if it may.
    func refusal(of directory: String) -> CommandFailure? {
        switch self {
        case .new, .database: nil
        case .restoring:
            .refused(
                "a restore into \(directory) is not complete; run restore again, or delete \(RestoreTarget.draftName) "
                    + "there to give it up")
        case .lost: Self.lost(directory)
        }
    }

    /// The failure for a directory whose database is lost.
    static func lost(_ directory: String) -> CommandFailure {
        .refused(
            "the database of \(directory) is lost: there are files of a server, and no counterfoil.db; put it back, or "
                + "restore a copy with restore; for a new server, name another directory or empty this one")
    }
}
