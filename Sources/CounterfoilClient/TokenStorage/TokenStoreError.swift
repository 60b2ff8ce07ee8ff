/// Why a token store cannot do what it should.
///
/// A place is a path, or the name of a service of the system; none of the texts holds anything that is kept.
public enum TokenStoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A file could be read or changed by others; nothing was read from it.
    case notPrivate(path: String, reason: String)
    /// A file is damaged, or does not belong to its key.
    case unreadable(path: String)
    /// The key of a file is not where the file says that it is.
    case keyMissing(path: String, key: String)
    /// What a service keeps is not what was given to it.
    case damaged(place: String)
    /// It was written by a later version, in a form that this one does not know; nothing was changed.
    case newer(place: String)
    /// The service that keeps the tokens, or the key of the file, cannot be used now; they are still there.
    case unavailable(place: String, reason: String)
    /// Another process has held the lock for longer than the caller wanted to wait.
    case busy(place: String, holder: Int32?)
    /// The task that waited for its turn was cancelled.
    case cancelled
    /// The system refused; the reason is the system's.
    case failed(path: String, reason: String)

    /// What happened and what to do, safe to show.
    public var description: String {
        switch self {
        case .notPrivate(let path, let reason): "the token store is not private: \(path) \(reason)"
        case .unreadable(let path):
            "the token store \(path) cannot be read with its key; delete both files and sign in again"
        case .keyMissing(let path, let key):
            "the key of the token store \(path) is not in \(key) any more; bring it back, or delete \(path) and sign in again"
        case .damaged(let place):
            "what is kept in \(place) is damaged; remove it there and sign in again"
        case .newer(let place):
            "the token store \(place) was written by a later version of this program; use that version"
        case .unavailable(let place, let reason): "\(place) cannot be used: \(reason)"
        case .busy(let place, let holder):
            "another process has used the token store for too long; stop it"
                + (holder.map { " (process \($0))" } ?? "") + " or try again later (lock: \(place))"
        case .cancelled: "the wait for the token store was cancelled"
        case .failed(let path, let reason): "the token store \(path) cannot be used: \(reason)"
        }
    }
}
