/// The error of a request that was not carried out, or of which it is unknown whether it was.
package enum DatabaseFault: LoggableError, Hashable {
    /// Nothing was changed, and the cause may pass by itself, such as a lost connection or a full disk.
    case unavailable(String)
    /// The result of a commit is unknown.
    case unconfirmed(String)
    /// Nothing was changed, and the cause does not pass by itself, such as a violated constraint.
    case failed(String)

    package var description: String {
        switch self {
        case .unavailable(let reason): "the database is unavailable: \(reason)"
        case .unconfirmed(let reason): "the database did not confirm a commit: \(reason)"
        case .failed(let reason): reason
        }
    }
}

/// An error whose description can appear in a log, because it contains no value of a row.
package protocol LoggableError: Error, CustomStringConvertible {}
