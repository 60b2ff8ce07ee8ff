import CounterfoilClient
import CounterfoilClientTesting
@_spi(Counterfoil) import CounterfoilProtocol
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// Tests of the built command line against a server on a real port.
///
/// A task follows the printed URL in place of the user's browser.
@Suite(.timeLimit(.minutes(5)), .serialized)
struct CommandLineTests {
    /// Signs in by following the `Open:` line.
    private static func login(
        _ server: ScriptedAuthorizationServer, home: URL, arguments: [String] = [], environment: [String: String] = [:]
    ) async throws -> CommandLineTool.Outcome {
        let visits = Mutex<[Task<Void, Never>]>([])
        let outcome = try await CommandLineTool.run(
            ["login", server.issuer.rawValue, "--client-id", "lightbox", "--browser", "print", "--timeout", "60"]
                + arguments, home: home, environment: environment
        ) { line in
            guard line.hasPrefix("Open: "), let url = try? BrowserURL(String(line.dropFirst(6))) else { return }
            visits.withLock { $0.append(Task { _ = await ScriptedBrowser().open(url) }) }
        }
        for visit in visits.withLock({ $0 }) { await visit.value }
        return outcome
    }

    @Test func `login, token, call and logout work together`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        var script = ServerScript(.noPushedRequests)
        script.metadata.absent.insert(.revocation)
        try await ScriptedAuthorizationServer.run(script) { server in
            let login = try await Self.login(
                server, home: home, arguments: ["--scope", "openid photos.read", "--scope", "email"])
            #expect(login.status == 0, "\(login.errors)")
            #expect(login.output.hasPrefix("Signed in at \(server.issuer) as alice. The access token expires at 2"))
            #expect(
                server.requests(to: .authorization).first?.query["scope"] == "openid photos.read email")
            #expect(
                FileManager.default.fileExists(
                    atPath: home.appendingPathComponent(".local/share/counterfoil/tokens").path))

            let token = try await CommandLineTool.run(["token"], home: home)
            #expect(token.status == 0)
            #expect(token.output == server.accessTokens[0] + "\n")
            #expect(token.errors.isEmpty)

            let call = try await CommandLineTool.run(
                ["call", "--include", server.url(of: .api)], home: home)
            #expect(call.status == 0)
            #expect(call.output.hasPrefix("HTTP 200 OK\n"))
            #expect(call.output.hasSuffix("\n{\"photos\":[]}"))
            #expect(server.requests(to: .api).first?.authorization == "Bearer \(server.accessTokens[0])")

            let logout = try await CommandLineTool.run(["logout"], home: home)
            #expect(logout.status == 0)
            #expect(
                logout.output.hasPrefix(
                    "Signed out: the token was deleted here. This server does not revoke tokens: the access token expires"
                ))
            #expect(
                logout.output.hasSuffix(
                    "and the refresh token stays valid at the server until it expires or you disconnect the app in your"
                        + " account.\n"))
            let after = try await CommandLineTool.run(["token"], home: home)
            #expect(after.status == 3)
            #expect(after.errors.contains("no user is signed in under the profile default; run: counterfoil login"))
        }
    }

    @Test func `logout revokes the token at the server`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        try await ScriptedAuthorizationServer.run { server in
            #expect(try await Self.login(server, home: home).status == 0)
            let logout = try await CommandLineTool.run(["logout", "--json"], home: home)
            #expect(logout.output.contains("\"revoked\" : true"))
            #expect(server.requests(to: .revocation).contains { $0.form["token"] == server.accessTokens[0] })
        }
    }

    @Test func `no secret is printed, even with --verbose`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        try await ScriptedAuthorizationServer.run { server in
            let login = try await Self.login(
                server, home: home, arguments: ["--verbose", "--json", "--scope", "openid"])
            #expect(server.secrets.count >= 5)
            for secret in server.secrets {
                #expect(!login.output.contains(secret))
                #expect(!login.errors.contains(secret))
            }
            #expect(login.output.contains("\"subject\" : \"alice\""))
            #expect(login.errors.contains("counterfoil: received and verified the tokens"))
        }
    }

    @Test func `text from a server cannot control the terminal`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        var script = ServerScript()
        script.interruptions = [
            Interruption(
                at: .token, .refusal("invalid\u{1B}[2Jgrant", "\u{1B}]0;title\u{07}\u{202E}hello\r\n"))
        ]
        try await ScriptedAuthorizationServer.run(script) { server in
            let login = try await Self.login(server, home: home)
            #expect(login.status == 7)
            #expect(!login.errors.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" })
            #expect(!login.errors.contains("\u{202E}"))
            #expect(login.errors.contains("hello"))
        }
    }

    // Every kind of failure has its own exit code.
    @Test(arguments: [("refused", 7), ("silent", 4), ("unsafe", 5), ("unavailable", 6), ("no PKCE", 5), ("usage", 64)])
    func `each kind of failure has its exit code`(kind: String, status: Int32) async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        var script = ServerScript()
        var arguments: [String] = []
        switch kind {
        case "refused": script.interruptions = [Interruption(at: .token, .refusal("invalid_grant"))]
        case "silent":
            arguments = ["--timeout", "1"]
            script.authorization.destination = "http://127.0.0.1:1/"
        case "unsafe": script = ServerScript(.htmlTokens)
        case "unavailable": script.interruptions = [Interruption(at: .metadata, .html(status: 503))]
        case "no PKCE": script = ServerScript(.hidesPKCE)
        default: arguments = ["--redirect-uri", "https://example.com/cb"]
        }
        let (given, options) = (script, arguments)
        try await ScriptedAuthorizationServer.run(given) { server in
            let login = try await Self.login(server, home: home, arguments: options)
            #expect(login.status == status, "\(login.errors)")
            #expect(login.output.isEmpty)
            let token = try await CommandLineTool.run(["token", "--json"], home: home)
            #expect(token.status == 3)
            #expect(
                token.errors.hasPrefix(
                    "{\"error\":\"sign_in_required\",\"exit_code\":3,\"message\":\"no user is signed in"))
        }
    }

    @Test func `a server without PKCE in its metadata is accepted with --assume-pkce`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        try await ScriptedAuthorizationServer.run(ServerScript(.hidesPKCE)) { server in
            let login = try await Self.login(server, home: home, arguments: ["--assume-pkce"])
            #expect(login.status == 0, "\(login.errors)")
        }
    }

    @Test func `an expired token is refreshed, or the error says what to do`()
        async throws
    {
        for (misbehavior, status) in [(.rotatesStrictly, 0), (.givesNoRefreshToken, 3)] as [(Misbehavior, Int32)] {
            let directory = try TemporaryDirectory()
            let home = directory.url
            var script = ServerScript(misbehavior)
            script.tokens.expiresIn = .raw("0")
            try await ScriptedAuthorizationServer.run(script) { server in
                #expect(try await Self.login(server, home: home).status == 0)
                server.change { $0.tokens.expiresIn = .seconds }
                let token = try await CommandLineTool.run(["token"], home: home)
                #expect(token.status == status)
                #expect(token.output == (status == 0 ? "\(server.accessTokens[1])\n" : ""))
                #expect(token.errors.contains("Sign in again") == (status == 3))
            }
        }
    }

    @Test func `call prints the response of an API and sends the token nowhere else`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        let file = home.appendingPathComponent("photo.json")
        try Data("{\"title\":\"x\"}".utf8).write(to: file)
        try await ScriptedAuthorizationServer.run { server in
            #expect(try await Self.login(server, home: home).status == 0)
            let photos = server.url(of: .api)
            for (status, code) in [(200, 0), (404, 7), (401, 7), (403, 7), (503, 6), (429, 6), (302, 5)]
                as [(Int, Int32)]
            {
                var answer = ScriptedAnswer(status: status, body: .text("status \(status)"))
                if status == 302 { answer.headerFields = [.init("Location", "http://evil.example.com/")] }
                let scripted = answer
                server.change { $0.interruptions = [Interruption(at: .api, scripted)] }
                let call = try await CommandLineTool.run(["call", photos], home: home)
                #expect(call.status == code, "\(status)")
                #expect(call.output == "status \(status)")
            }
            server.change { $0.interruptions = [] }
            let post = try await CommandLineTool.run(
                ["call", "--data", "@\(file.path)", "--header", "Content-Type: application/json", photos], home: home)
            #expect(post.status == 0, "\(post.errors)")
            let request = try #require(server.requests(to: .api).last)
            #expect(request.method == .post)
            #expect(request.headerFields[.contentType] == "application/json")
            #expect(request.text == "{\"title\":\"x\"}")
            for arguments in [
                ["http://api.example.com/"], ["--header", "Authorization: Basic x", photos],
                ["--header", "broken", photos],
                ["--data", "@/nonexistent", photos], ["--method", "G E T", photos],
            ] {
                #expect(try await CommandLineTool.run(["call"] + arguments, home: home).status == 64, "\(arguments)")
            }
        }
    }

    @Test func `profiles and stores are separate`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        let file = "file:\(home.appendingPathComponent("other/tokens").path)"
        try await ScriptedAuthorizationServer.run { server in
            let login = try await Self.login(server, home: home, arguments: ["--profile", "work", "--store", file])
            #expect(login.status == 0, "\(login.errors)")
            let there = try await CommandLineTool.run(
                ["token", "--profile", "work"], home: home, environment: ["COUNTERFOIL_STORE": file])
            #expect(there.output == server.accessTokens[0] + "\n")
            #expect(try await CommandLineTool.run(["token", "--store", file], home: home).status == 3)
            #expect(try await CommandLineTool.run(["token", "--profile", "work"], home: home).status == 3)
        }
        let secret = try await CommandLineTool.run(["token", "--store", "secret-service"], home: home)
        #expect(secret.status == 6)
        #expect(secret.errors.contains("the Secret Service cannot be used: there is no session bus"))
        #expect(try await CommandLineTool.run(["token", "--store", "nowhere"], home: home).status == 64)
        #expect(try await CommandLineTool.run(["token", "--profile", "a/b"], home: home).status == 64)
    }
}
