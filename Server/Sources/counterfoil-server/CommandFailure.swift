import CounterfoilPostgreSQL
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore

/// The exit codes of all commands.
///
/// A script reads the result of a check as 0 or ``found``. No error has either code, whether the command line, the
/// settings or the database cause it.
enum CommandExit {
    /// A check has found something: a fault, a difference, something to do.
    static let found: Int32 = 1
    /// The command, the server or the store refuses, or the settings file is wrong; a retry does not help.
    static let refused: Int32 = 3
    /// A temporary failure; a retry can help.
    static let temporary: Int32 = 6
    /// A mistake in the command line, or in the value of an environment variable.
    static let usage: Int32 = 64
    /// An error that no command expects.
    static let unexpected: Int32 = 70
}

/// A failure of a command, with a message for people and an exit code for scripts.
///
/// ``CommandExit`` has all exit codes.
struct CommandFailure: Error {
    let message: String
    let exitCode: Int32

    /// Whether a retry may solve it.
    var isTemporary: Bool { exitCode == CommandExit.temporary }

    /// The line on standard error.
    var line: String { (exitCode == CommandExit.usage ? "Error: " : "counterfoil-server: ") + message }

    /// Creates a failure for a mistake in the command line or in a variable, with ``CommandExit/usage``.
    static func usage(_ message: String) -> CommandFailure {
        CommandFailure(message: message, exitCode: CommandExit.usage)
    }

    /// Creates a failure that a retry does not solve, with ``CommandExit/refused``.
    static func refused(_ message: String) -> CommandFailure {
        CommandFailure(message: message, exitCode: CommandExit.refused)
    }

    /// Creates the end of a check that has found something.
    static func found(_ message: String) -> CommandFailure {
        CommandFailure(message: message, exitCode: CommandExit.found)
    }

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

    /// Creates a failure that a retry may solve, with ``CommandExit/temporary``.
    static func temporary(_ message: String) -> CommandFailure {
        CommandFailure(message: message, exitCode: CommandExit.temporary)
    }
}
