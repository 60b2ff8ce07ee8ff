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
            ServeCommand.self, DemoCommand.self, UserCommand.self, ClientCommand.self, ScopeCommand.self,
            ResourceCommand.self, UnregisteredCommand.self, RegistrationTokenCommand.self, BrandingCommand.self,
            ApplyCommand.self, KeyCommand.self, CertificateCommand.self, MailCommand.self, AuditCommand.self,
            EventsCommand.self, WebhookCommand.self,
            BackupCommand.self,
            RestoreCommand.self, AfterRestoreCommand.self, PruneJournalCommand.self, MigrateCommand.self,
            ConfigCommand.self,
            HealthCommand.self, DoctorCommand.self,
        ]
    )

    static func main() async {
        do {
            var command = try parse(Array(CommandLine.arguments.dropFirst()))
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch let failure as CommandFailure {
            Output.note(failure.line)
            Foundation.exit(failure.exitCode)
        } catch {
            end(with: error)
        }
    }

    /// Parses a command line.
    ///
    /// After an unknown command, the parser would report the first option as unknown, and not the command.
    private static func parse(_ arguments: [String]) throws -> any ParsableCommand {
        do { return try parseAsRoot(arguments) } catch {
            guard exitCode(for: error) == .validationFailure, let words = unknownCommand(in: arguments) else {
                throw error
            }
            return try parseAsRoot(words)
        }
    }

    /// Returns the words of a command line up to one that is no command; nil if each is one.
    private static func unknownCommand(in arguments: [String]) -> [String]? {
        var type: any ParsableCommand.Type = Self.self
        for (index, word) in arguments.enumerated() {
            let configuration = type.configuration
            guard !configuration.subcommands.isEmpty, configuration.defaultSubcommand == nil, !word.hasPrefix("-")
            else {
                return nil
            }
            let next = configuration.subcommands.first {
                $0.configuration.commandName == word || $0.configuration.aliases.contains(word)
            }
            guard let next else { return Array(arguments.prefix(index + 1)) }
            type = next
        }
        return nil
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
