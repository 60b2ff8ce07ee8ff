import ArgumentParser
import CounterfoilServer
import Foundation

/// The root command of the program: the server and its administration commands.
@main
struct CounterfoilServerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "counterfoil-server",
        abstract: "An OAuth 2.0 and OpenID Connect server for native apps.",
        discussion: """
            Administration commands work on the data directory or the database directly, whether or not the server is \
            running. A running server sees a change at its next request. The first command that writes creates the data directory.

            Example:
              counterfoil-server demo

            Exit codes: 0 success, 3 refused, 6 temporary failure (try again), 64 usage error.
            """,
        version: Build.version,
        subcommands: [
            ServeCommand.self, DemoCommand.self, UserCommand.self, AppCommand.self, ScopeCommand.self,
            ResourceCommand.self, UnregisteredCommand.self, RegistrationTokenCommand.self, BrandingCommand.self,
            KeyCommand.self, AuditCommand.self, MigrateCommand.self, DoctorCommand.self,
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
