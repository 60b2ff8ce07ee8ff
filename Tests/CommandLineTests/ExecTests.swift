@_spi(Counterfoil) import CounterfoilClient
import CounterfoilClientTesting
@_spi(Counterfoil) import CounterfoilProtocol
import Foundation
import TestSupport
import Testing

/// Tests of `counterfoil exec`.
@Suite(.timeLimit(.minutes(5)))
struct ExecTests {
    /// Runs `counterfoil exec` with a script.
    private static func exec(
        _ script: String, options: [String] = [], home: URL, environment: [String: String] = [:],
        onLine: @escaping @Sendable (String) -> Void = { _ in }, started: @Sendable (ChildProcess) -> Void = { _ in }
    ) async throws -> CommandLineTool.Outcome {
        try await CommandLineTool.run(
            ["exec"] + options + ["--", "/bin/sh", "-c", script], home: home, environment: environment, onLine: onLine,
            started: started)
    }

    @Test func `a program gets the token in a private file, which is deleted when the program ends`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        try await ScriptedAuthorizationServer.run { server in
            #expect(try await CommandLineTool.signIn(at: server, home: home).status == 0)
            let script = """
                cat "$COUNTERFOIL_TOKEN_FILE"; echo
                stat -c '%a %U' "$COUNTERFOIL_TOKEN_FILE" "$(dirname "$COUNTERFOIL_TOKEN_FILE")"
                echo "$COUNTERFOIL_TOKEN_FILE"
                tr '\\0' '\\n' </proc/$PPID/cmdline; tr '\\0' '\\n' </proc/$PPID/environ; env
                set -- /proc/$$/fd/*; echo "descriptors $#"
                """
            let outcome = try await Self.exec(script, home: home, environment: ["XDG_RUNTIME_DIR": home.path])
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(outcome.errors.isEmpty)
            let lines = outcome.output.split(separator: "\n").map(String.init)
            #expect(lines[0] == server.accessTokens[0])
            #expect(lines[1] == "600 \(NSUserName())")
            #expect(lines[2] == "700 \(NSUserName())")
            // The three standard streams, and the directory that the shell lists.
            #expect(lines.last == "descriptors 4")
            let file = lines[3]
            #expect(file.hasPrefix("\(home.path)/counterfoil-"))
            #expect(
                !FileManager.default.fileExists(atPath: URL(fileURLWithPath: file).deletingLastPathComponent().path))
            for secret in server.secrets { #expect(!lines.dropFirst().contains { $0.contains(secret) }) }
        }
    }

    @Test func `a program gets a token for one API`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        let resources = ["https://photos.example.com", "https://mail.example.com"]
        try await ScriptedAuthorizationServer.run { server in
            let login = try await CommandLineTool.signIn(
                at: server, home: home, "--resource", resources[0], "--resource", resources[1])
            #expect(login.status == 0, "\(login.errors)")
            let script = #"cat "$COUNTERFOIL_TOKEN_FILE""#
            let outcome = try await Self.exec(script, options: ["--resource", resources[1]], home: home)
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(server.accessTokens.count == 2 && outcome.output == server.accessTokens[1])
            #expect(server.requests(to: .token).last?.form.all("resource") == [resources[1]])
        }
    }

    @Test func `the exit code is that of the program, or tells why it did not run`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        let text = directory.file("text")
        try Data("text".utf8).write(to: text)
        try await ScriptedAuthorizationServer.run { server in
            let none = try await Self.exec("exit 0", home: home)
            #expect(none.status == 3)
            #expect(try await CommandLineTool.signIn(at: server, home: home).status == 0)
            for code: Int32 in [0, 1, 3, 42] {
                #expect(try await Self.exec("exit \(code)", home: home).status == code)
            }
            #expect(try await Self.exec("kill -KILL $$", home: home).status == 137)
            #expect(try await CommandLineTool.run(["exec", "--", "/nonexistent"], home: home).status == 127)
            let unusable = try await CommandLineTool.run(["exec", "--", text.path], home: home)
            #expect(unusable.status == 126)
            #expect(unusable.errors.contains("\(text.path) cannot be run: Permission denied"))
            #expect(try await CommandLineTool.run(["exec"], home: home).status == 64)
            let words = try await CommandLineTool.run(
                ["exec", "--", "printf", "%s|", "--profile", "-x", "a b"], home: home)
            #expect(words.output == "--profile|-x|a b|")
        }
    }

    @Test(arguments: [SIGTERM, SIGINT, SIGHUP, SIGUSR1])
    func `signals are passed on, and the file is deleted after them too`(signal: Int32) async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        try await ScriptedAuthorizationServer.run { server in
            #expect(try await CommandLineTool.signIn(at: server, home: home).status == 0)
            let process = Mutex<ChildProcess?>(nil)
            // The shell waits for a background process, which a trap interrupts at once. The shell's copy that has not
            // become `sleep` yet would catch any other signal than SIGKILL, and then `sleep` would keep the pipe open.
            let script = """
                trap 'kill -KILL $child; echo caught >&2; exit 9' TERM INT HUP USR1
                sleep 600 & child=$!
                echo ready >&2
                wait $child
                """
            let outcome = try await Self.exec(
                script, home: home, environment: ["XDG_RUNTIME_DIR": home.path],
                onLine: { line in
                    guard line == "ready", let identifier = process.withLock({ $0?.identifier }) else { return }
                    kill(identifier, signal)
                }, started: { started in process.withLock { $0 = started } })
            #expect(outcome.status == 9, "\(outcome.errors)")
            #expect(outcome.errors == "ready\ncaught\n")
            let names = try FileManager.default.contentsOfDirectory(atPath: home.path)
            #expect(!names.contains { $0.hasPrefix("counterfoil-") })
        }
    }

    @Test func `Control-C in the terminal reaches the program once`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        try await ScriptedAuthorizationServer.run { server in
            #expect(try await CommandLineTool.signIn(at: server, home: home).status == 0)
            let terminal = try Terminal()
            defer { terminal.end() }
            let script = """
                trap 'echo caught; count=$((count + 1))' INT
                echo ready
                while [ "${count:-0}" -lt 1 ]; do read -r line; done
                read -r line
                exit "$count"
                """
            // `setsid` makes the pseudoterminal the controlling one, so that it sends the signal.
            let program = try Product.client.executable.path
            let process = try ChildProcess(
                path: "/usr/bin/setsid",
                arguments: ["--ctty", "--wait", program, "exec", "--", "/bin/sh", "-c", script],
                environment: ["HOME": home.path, "PATH": "/usr/bin:/bin"], standardInput: terminal.programEnd,
                standardOutput: terminal.programEnd, standardError: terminal.programEnd)
            try await terminal.shows("ready")
            terminal.type("\u{3}")
            try await terminal.shows("caught")
            terminal.type("\n\n")
            #expect(await process.exitStatus == 1, "\(terminal.text)")
        }
    }

    @Test func `the file gets a new token before the old one expires`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        try await ScriptedAuthorizationServer.run { server in
            server.change { $0.tokens.expiresIn = .raw("3") }
            #expect(try await CommandLineTool.signIn(at: server, home: home).status == 0)
            let script = """
                first=$(cat "$COUNTERFOIL_TOKEN_FILE")
                while [ "$(cat "$COUNTERFOIL_TOKEN_FILE")" = "$first" ]; do sleep 0.1; done
                cat "$COUNTERFOIL_TOKEN_FILE"
                """
            let outcome = try await Self.exec(script, home: home)
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(server.accessTokens.dropFirst().contains(outcome.output))
        }
    }

    // OpenID Connect Core §12.2: the token of one refresh is withheld, and the sign-in continues.
    @Test func `the file gets a new token after a refresh whose token was withheld`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        try await ScriptedAuthorizationServer.run(ServerScript(.rotatesStrictly)) { server in
            server.change { $0.tokens.expiresIn = .raw("3") }
            #expect(try await CommandLineTool.signIn(at: server, home: home, "--scope", "openid").status == 0)
            let former = directory.file("former")
            let script = """
                echo ready >&2
                until [ -e "$HOME/former" ] && ! grep -qF "$(cat "$COUNTERFOIL_TOKEN_FILE")" "$HOME/former"; do
                    sleep 0.1
                done
                cat "$COUNTERFOIL_TOKEN_FILE"
                """
            let outcome = try await Self.exec(
                script, home: home,
                onLine: { line in
                    if line == "ready" {
                        server.change { $0.idToken.replaced = [WireMember("iss", "https://login.example.com")] }
                    }
                    guard line.contains("could not be refreshed") else { return }
                    let tokens = server.accessTokens.joined(separator: "\n")
                    try? Data(tokens.utf8).write(to: former, options: .atomic)
                    server.change {
                        $0.idToken = IDTokenScript()
                        $0.tokens.expiresIn = .seconds
                    }
                })
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(outcome.output == server.accessTokens.last)
            #expect(outcome.errors.split(separator: "\n").count == 2, "\(outcome.errors)")
            #expect(outcome.errors.contains("issued by another issuer (iss)"))
        }
    }
}
