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

            Exit codes: 0 success, 1 a check has found something, 3 refused, 6 temporary failure (try again), 64 usage \
            error, 70 unexpected error.
            """,
        version: Build.version,
        subcommands: [
            ServeCommand.self, DemoCommand.self, UserCommand.self, AppCommand.self, ScopeCommand.self,
            ResourceCommand.self, UnregisteredCommand.self, RegistrationTokenCommand.self, BrandingCommand.self,
            KeyCommand.self, CertificateCommand.self, AuditCommand.self, BackupCommand.self, RestoreCommand.self,
            AfterRestoreCommand.self, PruneJournalCommand.self, MigrateCommand.self, ConfigCommand.self,
            HealthCommand.self, DoctorCommand.self,
        ]
    )

    static func main() async {
        let invocation = CommandInvocation(
            Array(CommandLine.arguments.dropFirst()), environment: ProcessInfo.processInfo.environment)
        var resolved: ResolvedSettings?
        do {
            let settings = try invocation.resolve()
            resolved = settings
            var command = try invocation.command(with: settings)
            if let configured = command as? any ConfiguredCommand {
                try await configured.run(with: SettingsContext(invocation: invocation, settings: settings))
            } else if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch let failure as CommandFailure {
            let message = resolved?.explained(failure.message) ?? failure.message
            Output.note("counterfoil-server: \(message)")
            Foundation.exit(failure.exitCode)
        } catch {
            guard let explanation = resolved?.explanation(of: error) else { end(with: error) }
            Output.note((explanation.isInFile ? "counterfoil-server: " : "Error: ") + explanation.text)
            Foundation.exit(explanation.isInFile ? CommandExit.refused : CommandExit.usage)
        }
    }

    /// Ends the process as ArgumentParser does, unless nothing has expected the error.
    ///
    /// ArgumentParser gives such an error the code 1, which is the result of a check.
    private static func end(with error: any Error) -> Never {
        guard exitCode(for: error) == .failure, !(error is ExitCode) else { exit(withError: error) }
        Output.note("counterfoil-server: \(message(for: error))")
        Foundation.exit(CommandExit.unexpected)
    }
}
