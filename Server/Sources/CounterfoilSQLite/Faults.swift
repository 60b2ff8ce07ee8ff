import CounterfoilStore
import GRDB

extension StoreFault {
    /// Classifies an error of SQLite as `unavailable`, for a failure that may end by itself, or as `damaged`.
    init(_ error: any Error) {
        switch error {
        case let fault as StoreFault:
            self = fault
        case let error as DatabaseError:
            switch error.resultCode {
            case .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_FULL, .SQLITE_IOERR, .SQLITE_READONLY, .SQLITE_CANTOPEN,
                .SQLITE_NOMEM,
                .SQLITE_INTERRUPT, .SQLITE_PROTOCOL, .SQLITE_PERM:
                self = .unavailable(error.withoutValues)
            // `Readers` throws this error if the store was closed.
            case .SQLITE_MISUSE:
                self = .unavailable(error.withoutValues)
            default:
                self = .damaged(error.withoutValues)
            }
        default:
            self = .damaged("unexpected failure: \(type(of: error))")
        }
    }
}

extension StoreFault {
    /// Classifies an error of `COMMIT`: after an I/O error, the result of the transaction is unknown.
    ///
    /// SQLite writes a transaction to the WAL, and then syncs it. If one of the two fails, no connection reads the
    /// transaction. But if the process then ends before another commit, SQLite may find the transaction complete in the
    /// WAL when the file is opened again. After any other error, the WAL has no complete transaction.
    init(ofCommit error: any Error) {
        if let error = error as? DatabaseError, error.resultCode == .SQLITE_IOERR {
            self = .unconfirmed(error.withoutValues)
        } else {
            self.init(error)
        }
    }
}

extension DatabaseError {
    /// The error text for the log: SQLite's code and message, which can name tables and columns.
    ///
    /// It contains no values and no SQL.
    var withoutValues: String {
        "SQLite error \(extendedResultCode.rawValue), \(message ?? "no message")"
    }
}
