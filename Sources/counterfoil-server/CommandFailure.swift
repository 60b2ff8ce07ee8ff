import CounterfoilPostgreSQL
import CounterfoilSQLite
import CounterfoilServer

/// A failure of a command, with a message for people and an exit code for scripts.
struct CommandFailure: Error {
    let message: String
    let exitCode: Int32

    /// Whether a retry may solve it.
    var isTemporary: Bool { exitCode == 6 }

    /// Creates a failure that a retry does not solve, with exit code 3.
    static func refused(_ message: String) -> CommandFailure { CommandFailure(message: message, exitCode: 3) }

    /// Creates a failure from an error of opening the store; a retry can succeed only if the store is locked, or could
    /// not be copied.
    init(_ refusal: SQLiteStore.OpeningRefusal) {
        switch refusal {
        case .locked, .notCopied: self = .temporary("\(refusal)")
        default: self = .refused("\(refusal)")
        }
    }

    /// Creates a failure from an error of opening a database; a retry can succeed only if no server answered.
    init(_ refusal: OpeningRefusal) {
        switch refusal {
        case .unreachable, .readOnly: self = .temporary("\(refusal)")
        default: self = .refused("\(refusal)")
        }
    }

    /// Creates a failure from an error of a store operation; a retry can succeed only if the store is unavailable.
    init(_ fault: StoreFault) {
        switch fault {
        case .unavailable: self = .temporary("\(fault); nothing was changed")
        case .unconfirmed: self = .temporary("\(fault); check whether the change was made before you repeat it")
        case .damaged, .unsupported: self = .refused("\(fault); nothing was changed")
        }
    }

    private init(message: String, exitCode: Int32) {
        self.message = message
        self.exitCode = exitCode
    }

    /// Creates a failure that a retry may solve, with exit code 6.
    static func temporary(_ message: String) -> CommandFailure { CommandFailure(message: message, exitCode: 6) }
}
