/// An error of a token store.
///
/// A place is a path or the name of a system service. The texts contain no stored data.
public enum TokenStoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Other users could read or change a file; nothing was read from it.
    case notPrivate(path: String, reason: String)
    /// A file is damaged or was encrypted with another key.
    case unreadable(path: String)
    /// The key is not in the location that the file names.
    case keyMissing(path: String, key: String)
    /// The stored data is damaged or was changed by another program.
    case damaged(place: String)
    /// A later version wrote the data in an unknown format; nothing was changed.
    case newer(place: String)
    /// The service that stores the tokens, or the key of the file, is unavailable now.
    ///
    /// The tokens are still stored.
    case unavailable(place: String, reason: String)
    /// Another process or task held the lock for longer than the caller was willing to wait.
    case busy(place: String, holder: Int32?)
    /// The waiting task was cancelled.
    case cancelled
    /// An operation failed; the reason says why.
    case failed(path: String, reason: String)

    /// The reason and the remedy, safe to show.
    public var description: String {
        switch self {
        case .notPrivate(let path, let reason): "the token store is not private: \(path) \(reason)"
        case .unreadable(let path):
            "the token store \(path) is damaged or does not match its key; delete it and its key, and sign in again"
        case .keyMissing(let path, let key):
            "the key of the token store \(path) is missing from \(key); restore it, or delete \(path) and sign in again"
        case .damaged(let place):
            "the stored data in \(place) is damaged; delete it there and sign in again"
        case .newer(let place):
            "the token store \(place) was written by a later version of this program; use that version"
        case .unavailable(let place, let reason): "\(place) cannot be used: \(reason)"
        case .busy(let place, let holder):
            "the token store is locked by another process or task"
                + (holder.map { " (process \($0))" } ?? "") + "; end it, or try again later (lock: \(place))"
        case .cancelled: "the wait for the token store was cancelled"
        case .failed(let path, let reason): "the token store \(path) cannot be used: \(reason)"
        }
    }
}
