import ArgumentParser
import CounterfoilServer
import CounterfoilStore
import Foundation

/// The option for a new password.
///
/// A password is never a command-line argument, because other users of the machine can see the arguments.
struct PasswordOption: ParsableArguments {
    @Flag(
        name: .long,
        help: "Read the password from standard input (one line). Required where standard input is no terminal.")
    var passwordStdin = false

    @Flag(name: .long, help: "Have the user choose another password at the next sign-in with this one.")
    var mustChangePassword = false

    private static var isTerminal: Bool { isatty(STDIN_FILENO) == 1 }

    func validate() throws {
        guard passwordStdin || Self.isTerminal else {
            throw ValidationError("Use --password-stdin, and write the password to standard input.")
        }
    }

    /// Asks for the password at a terminal, twice and without showing it; otherwise reads one line of standard input.
    func readLine() throws(CommandFailure) -> String {
        guard Self.isTerminal else { return try Self.checked(Swift.readLine(strippingNewline: true)) }
        let (first, second) = HiddenInput.whileReading {
            Output.prompt("Password: ")
            let first = Swift.readLine(strippingNewline: true)
            guard first?.isEmpty == false else { return (first, String?.none) }
            Output.prompt("The same password again: ")
            return (first, Swift.readLine(strippingNewline: true))
        }
        // The terminal shows nothing for Control-D, so the cursor is still behind the question.
        if first == nil || first?.isEmpty == false && second == nil { Output.note("") }
        let password = try Self.checked(first)
        guard password == second else {
            throw CommandFailure.refused("nothing was changed; the two passwords differ")
        }
        return password
    }

    private static func checked(_ line: String?) throws(CommandFailure) -> String {
        guard let line, !line.isEmpty else {
            throw CommandFailure.refused(
                isTerminal
                    ? "nothing was changed; no password was typed"
                    : "no password on standard input; write it there as one line")
        }
        return line
    }

    /// Checks a new password against the rules for a user's password, as far as the command knows them.
    static func check(
        _ line: String, for username: Username, email: EmailAddress?, displayName: String
    ) throws(CommandFailure) {
        do {
            _ = try Password(choosing: line, for: username, email: email, displayName: displayName, host: nil)
        } catch {
            throw CommandFailure.refused("\(error)")
        }
    }
}
