import ArgumentParser
import CounterfoilServer

/// The option for a new password.
///
/// A password is never a command-line argument, because other users of the machine can see the arguments.
struct PasswordOption: ParsableArguments {
    @Flag(name: .long, help: "Read the password from standard input (one line). Required.")
    var passwordStdin = false

    func validate() throws {
        guard passwordStdin else {
            throw ValidationError("Use --password-stdin, and write the password to standard input.")
        }
    }

    /// Reads one line of standard input, without its line end.
    func readLine() throws(CommandFailure) -> String {
        guard let line = Swift.readLine(strippingNewline: true), !line.isEmpty else {
            throw CommandFailure.refused("no password on standard input; write it there as one line")
        }
        return line
    }

    /// Checks a new password against the rules for a user's password.
    static func password(_ line: String, for username: Username) throws(CommandFailure) -> Password {
        do { return try Password(choosing: line, for: username) } catch {
            throw CommandFailure.refused("\(error)")
        }
    }
}
