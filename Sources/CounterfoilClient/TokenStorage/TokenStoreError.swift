/// A failure to open, lock, read or write a token store.
///
/// `location` is a path or the name of a system service. No associated value contains stored data.
public enum TokenStoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A file or its directory is not protected from other users, or is not of the expected type; nothing was read.
    case notPrivate(path: String, reason: String)
    /// A file is damaged or was encrypted with another key.
    case unreadable(path: String)
    /// The key of an encrypted file is missing from `key`, the location that the file names.
    case keyMissing(path: String, key: String)
    /// The stored data is damaged or was changed by another program; a new sign-in replaces it.
    case damaged(location: String)
    /// A later version of this program wrote the data in a format that this version cannot read.
    ///
    /// A new sign-in replaces the record. A file of a later version is not changed.
    case newer(location: String)
    /// The service that stores the tokens or the key of the token file is unavailable now.
    ///
    /// Tokens that were stored before are not lost.
    case unavailable(location: String, reason: String)
    /// Another process or task held the lock until the time limit of the wait expired.
    ///
    /// `holder` is the process ID of the last holder, if it is known.
    case busy(location: String, holder: Int32?)
    /// The task was cancelled while it waited for a lock.
    case cancelled
    /// The store could not be read or written; `reason` is the cause.
    case failed(path: String, reason: String)

    /// A description of the problem and its remedy, safe to show to users.
    public var description: String {
        switch self {
        case .notPrivate(let path, let reason): "the token store is not private: \(path) \(reason)"
        case .unreadable(let path):
            "the token store \(path) is damaged or does not match its key; delete it and its key, and sign in again"
        case .keyMissing(let path, let key):
            "the key of the token store \(path) is missing from \(key); restore it, or delete \(path) and sign in again"
        case .damaged(let location):
            "the stored data in \(location) is damaged; sign in again, or sign out to delete it"
        case .newer(let location):
            "the token store \(location) was written by a later version of this program; use that version, or sign in with"
                + " another store"
        case .unavailable(let location, let reason): "\(location) cannot be used: \(reason)"
        case .busy(let location, let holder):
            "the token store is locked by another process or task"
                + (holder.map { " (process \($0))" } ?? "") + "; try again later (lock: \(location))"
        case .cancelled: "the wait for the token store was cancelled"
        case .failed(let path, let reason): "the token store \(path) cannot be used: \(reason)"
        }
    }
}
