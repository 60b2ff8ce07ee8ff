import CounterfoilSQLite
import CounterfoilServer

/// A failure of a command, as a sentence for people and an exit code for scripts.
struct CommandFailure: Error {
    let message: String
    let exitCode: Int32

    /// Creates a failure that a retry does not solve.
    static func refused(_ message: String) -> CommandFailure { CommandFailure(message: message, exitCode: 3) }

    /// Describes a failure to open the store.
    init(_ refusal: SQLiteStore.OpeningRefusal) {
        switch refusal {
        case .locked: self = .temporary("\(refusal)")
        default: self = .refused("\(refusal)")
        }
    }

    /// Describes a failure of a store operation.
    init(_ fault: StoreFault) {
        switch fault {
        case .unavailable: self = .temporary("\(fault); nothing was changed")
        case .damaged: self = .refused("\(fault); nothing was changed")
        }
    }

    private init(message: String, exitCode: Int32) {
        self.message = message
        self.exitCode = exitCode
    }

    /// Creates a failure that a retry may solve.
    static func temporary(_ message: String) -> CommandFailure { CommandFailure(message: message, exitCode: 6) }
}
