import ArgumentParser
import CounterfoilClient
import CounterfoilPlatform

/// The program `counterfoil`, with a subcommand for each task of a client.
@main
struct Counterfoil: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "counterfoil",
        abstract: "Sign in through the browser, store the token, and call APIs with it.",
        discussion: """
            Examples:
              counterfoil login https://id.example.com --client-id lightbox --scope openid
              counterfoil call https://photos.example.com/photos

            To enable completion in bash (or in zsh or fish, with their names instead):
              source <(counterfoil --generate-completion-script bash)

            \(ExitStatus.help)
            """,
        version: "0.1.0",
        subcommands: [
            Login.self, Status.self, Token.self, Call.self, Exec.self, Whoami.self, Logout.self, Doctor.self,
            Profiles.self, Use.self, Credential.self, ClientDocument.self, EarlyRefresh.self,
        ]
    )

    static func main() async {
        CoreDumps.forbid()
        StandardStreams.prepare()
        // For a redirect URI with a private-use scheme, the desktop starts a second process of this program, with the
        // callback URL as an argument. That process only passes the URL to the process that waits for it. The URL
        // contains the code, so deliver it before any other part of the program reads the arguments.
        if let outcome = RedirectHandoff.deliver() {
            CommandOutput(writesJSON: false, isVerbose: false).say(outcome.description)
            systemExit(outcome.exitCode)
        }
        await main(
            DockerCredential.arguments(
                of: CommandLine.arguments, environment: ProcessInfo.processInfo.environment))
    }

    /// Runs a command and exits; unlike the function of ArgumentParser, it reports output that cannot be written.
    static func main(_ arguments: [String]?) async {
        do {
            let command = try await command(arguments)
            try await run(command)
            try StandardStreams.finish()
            systemExit(0)
        } catch let failure as Failure {
            end(with: failure)
        } catch {
            let text = fullMessage(for: error, columns: nil)
            let code = exitCode(for: error)
            guard !text.isEmpty else { systemExit(code.rawValue) }
            guard code.isSuccess else {
                StandardStreams.writeError(Array((text + "\n").utf8))
                systemExit(code.rawValue)
            }
            do throws(Failure) {
                try StandardStreams.write(Array((text + "\n").utf8))
                try StandardStreams.finish()
            } catch { end(with: error) }
            systemExit(0)
        }
    }

    /// Runs a command, and then waits for the refreshes that it has begun and no longer waits for.
    private static func run(_ command: any ParsableCommand) async throws {
        var command = command
        let result: Result<Void, any Error>
        do {
            if var command = command as? any AsyncParsableCommand { try await command.run() } else { try command.run() }
            result = .success(())
        } catch {
            result = .failure(error)
        }
        await RefreshesInProgress.shared.finish()
        try result.get()
    }

    /// Parses the arguments.
    ///
    /// Other programs run `token` before each request. Without the other commands, parsing takes half of the time; the
    /// messages for wrong arguments need all commands.
    private static func command(_ arguments: [String]?) async throws -> any ParsableCommand {
        let arguments = arguments ?? Array(CommandLine.arguments.dropFirst())
        let isToken = arguments.first == Token.configuration.commandName
        if isToken, let token = try? Token.parse(Array(arguments.dropFirst())) { return token }
        return try await asyncParseAsRoot(arguments)
    }

    private static func end(with failure: Failure) -> Never {
        CommandOutput(writesJSON: false, isVerbose: false).say("Error: \(failure.sentence)")
        systemExit(failure.exitCode)
    }
}
