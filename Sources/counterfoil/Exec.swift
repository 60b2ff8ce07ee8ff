import ArgumentParser
import CounterfoilClient
import CounterfoilPlatform
import CounterfoilProtocol

/// `counterfoil exec` runs a program with the access token in a private file.
struct Exec: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "exec",
        abstract: "Run a program with the access token in a private file.",
        discussion: """
            $COUNTERFOIL_TOKEN_FILE is the path of the file. The file has mode 0600 and contains only the token. It gets a \
            new token before the old one expires, and is deleted when the program ends. No argument and no environment \
            variable contains the token. With --resource, the token is for one API only.

            Signals are passed on to the program. The exit code is that of the program, or 128 and the number of the \
            signal that ended it. It is 127 if the program does not exist, and 126 if it cannot be run. If there is no \
            token, the program is not run, and the exit code is one of those below.

            Example:
              counterfoil exec -- sh -c 'upload --token-file "$COUNTERFOIL_TOKEN_FILE"'

            \(ExitStatus.help)
            """
    )

    @OptionGroup var target: TargetOptions
    @OptionGroup var lifetime: LifetimeOption
    @OptionGroup var common: CommonOptions

    @Argument(
        parsing: .postTerminator, help: ArgumentHelp("The program and its arguments, after --.", valueName: "command"))
    var command: [String]

    func run() async throws {
        let console = common.console
        try await console.run {
            let store = try await common.openStore().store
            // A refresh token that cannot be stored lives as long as the session.
            let session = common.session(of: common.profile, in: store)
            let credentials = try await common.credentials(
                of: session, in: store, minimumLifetime: lifetime.minimumLifetime, for: target.value)
            PrintedToken(credentials).warnIfBound(console)
            // Receive signals before the file exists, so that none ends this process and leaves the file behind.
            let process = ForegroundProcess()
            defer { process.end() }
            let file = try TokenFile(credentials.accessToken)
            defer { file.remove() }
            var environment = ProcessInfo.processInfo.environment
            environment["COUNTERFOIL_TOKEN_FILE"] = file.path
            let renewal = Task { await renew(file, credentials, of: session, in: store) }
            let code = await exitCode(of: process, environment)
            // A renewal that is in progress must not write the file after its deletion.
            renewal.cancel()
            await renewal.value
            if code != 0 { throw ExitCode(code) }
        }
    }

    private func exitCode(of process: ForegroundProcess, _ environment: [String: String]) async -> Int32 {
        do throws(ForegroundProcess.CannotStart) {
            return try await process.run(command, environment: environment)
        } catch {
            common.console.say("Error: \(command[0]) cannot be run: \(String(cString: strerror(error.error)))")
            return error.error == ENOENT ? 127 : 126
        }
    }

    /// Replaces the token in the file before it expires, until the task is cancelled.
    private func renew(
        _ file: TokenFile, _ credentials: Credentials, of session: TokenSession, in store: any TokenStore
    ) async {
        var current = credentials
        // A server with short lifetimes is asked again sooner than after half a minute.
        let pause = min(30, max(1, (credentials.expires?.timeIntervalSinceNow ?? 0) / 5))
        var said: String?
        while let expires = current.expires, current.isRefreshable || current.isOfService {
            let left = expires.timeIntervalSinceNow
            let lead = min(60, left / 5)
            do { try await Task.sleep(for: .seconds(max(left - lead, 1))) } catch { return }
            do {
                current = try await common.credentials(
                    of: session, in: store, minimumLifetime: max(1, Int(lead) + 1), for: target.value)
                try file.replace(with: current.accessToken)
                said = nil
            } catch {
                guard !Task.isCancelled else { return }
                let failure = Failure(any: error)
                if said != failure.sentence {
                    common.console.say("The token in the file could not be refreshed: \(failure.sentence).")
                    said = failure.sentence
                }
                guard [.unavailable, .unsafe, .timedOut].contains(failure.status) else { return }
                do { try await Task.sleep(for: .seconds(pause)) } catch { return }
            }
        }
    }
}
