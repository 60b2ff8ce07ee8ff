import ArgumentParser
import CounterfoilSQLite
import CounterfoilServer
import Foundation

/// The server program and its administration commands.
@main
struct CounterfoilServerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "counterfoil-server",
        abstract: "An OAuth 2.0 and OpenID Connect server for native apps.",
        discussion: """
            Administration commands work on the data directory directly, whether or not the server is running. A \
            running server sees a change at its next request.

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

/// A failure of a command, as a sentence for people and an exit code for scripts.
struct CommandFailure: Error {
    let message: String
    let exitCode: Int32

    /// Creates a failure that a retry does not solve.
    static func refused(_ message: String) -> CommandFailure { CommandFailure(message: message, exitCode: 3) }

    /// Describes a failure to open the store.
    init(_ refusal: SQLiteStore.OpeningRefusal) {
        switch refusal {
        case .locked: self = .mayPass("\(refusal)")
        default: self = .refused("\(refusal)")
        }
    }

    /// Describes a failure of a store operation.
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

    /// Creates a failure that may pass.
    static func mayPass(_ message: String) -> CommandFailure { CommandFailure(message: message, exitCode: 6) }
}
