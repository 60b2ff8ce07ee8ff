import CounterfoilServer
import GRDB

extension StoreFault {
    /// What an error of SQLite means to whoever waits for an answer.
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
            // A connection that was closed.
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

extension DatabaseError {
    /// The error for the log: SQLite's number and words, which name tables and columns, but no values and no statement.
    var withoutValues: String {
        "SQLite error \(extendedResultCode.rawValue), \(message ?? "no message")"
    }
}
