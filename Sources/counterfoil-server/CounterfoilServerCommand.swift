import ArgumentParser
import CounterfoilSQLite
import CounterfoilServer
import Foundation

/// The daemon and its administration.
@main
struct CounterfoilServerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "counterfoil-server",
        abstract: "Sign-in for native apps: the authorization server and its administration.",
        discussion: """
            Administration works on the data directory directly, whether the server runs or not; a running server sees a \
            change at its next request.

            Exit codes: 0 done, 3 refused, 6 a failure that may pass, 64 wrong usage.
            """,
        version: Build.version,
        subcommands: [
            ServeCommand.self, DemoCommand.self, UserCommand.self, AppCommand.self, ScopeCommand.self,
            ResourceCommand.self,
            BrandingCommand.self, KeyCommand.self, AuditCommand.self,
        ]
    )

    static func main() async {
        do {
            var command = try parseAsRoot()
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch let failure as CommandFailure {
            FileHandle.standardError.write(Data("counterfoil-server: \(failure.message)\n".utf8))
            Foundation.exit(failure.exitCode)
        } catch {
            exit(withError: error)
        }
    }
}

/// Why a command did not do what it was asked, in a sentence, with the exit code that tells a script.
struct CommandFailure: Error {
    let message: String
    let exitCode: Int32

    /// It was refused: trying again changes nothing.
    static func refused(_ message: String) -> CommandFailure { CommandFailure(message: message, exitCode: 3) }

    /// The store was not opened.
    init(_ refusal: SQLiteStore.OpeningRefusal) {
        switch refusal {
        case .locked: self = .mayPass("\(refusal)")
        default: self = .refused("\(refusal)")
        }
    }

    /// The store did not do it.
    init(_ fault: StoreFault) {
        switch fault {
        case .unavailable: self = .mayPass("\(fault); nothing was changed")
        case .damaged: self = .refused("\(fault); nothing was changed")
        }
    }

    private init(message: String, exitCode: Int32) {
        self.message = message
        self.exitCode = exitCode
    }

    /// It may work later.
    static func mayPass(_ message: String) -> CommandFailure { CommandFailure(message: message, exitCode: 6) }
}
