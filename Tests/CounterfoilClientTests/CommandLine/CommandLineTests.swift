import CounterfoilClient
import CounterfoilProtocol
import Foundation
import HTTPTypes
import Synchronization
import Testing

/// The built command line against a server on a real port; a person's browser is a task that follows the printed address.
@Suite(.timeLimit(.minutes(5)), .serialized)
struct CommandLineTests {
    /// Signs in by following the `Open:` line.
    private static func login(
        _ server: ScriptedServer, home: URL, arguments: [String] = [], environment: [String: String] = [:]
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

    // R042 R077, CL-36
    @Test func `login, token, call and logout do what they say`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        try await ScriptedServer.run { server in
            let login = try await Self.login(
                server, home: home, arguments: ["--scope", "openid photos.read", "--scope", "email"])
            #expect(login.status == 0, "\(login.errors)")
            #expect(login.output.hasPrefix("Signed in at \(server.issuer) as alice. The access token expires at 2"))
            #expect(
                try server.seen(at: "/oauth2/authorize").first?.query?.single("scope") == "openid photos.read email")
            #expect(
                FileManager.default.fileExists(
                    atPath: home.appendingPathComponent(".local/share/counterfoil/tokens").path))

            let token = try await CommandLineTool.run(["token"], home: home)
            #expect(token.status == 0)
            #expect(token.output == ScriptedServer.accessToken + "\n")
            #expect(token.errors.isEmpty)

            let call = try await CommandLineTool.run(
                ["call", "--include", server.issuer.endpoint("/photos")], home: home)
            #expect(call.status == 0)
            #expect(call.output.hasPrefix("HTTP 200 OK\n"))
            #expect(call.output.hasSuffix("\n{\"photos\":[]}"))
            #expect(
                server.seen(at: "/photos").first?.head.headerFields[.authorization]
                    == "Bearer \(ScriptedServer.accessToken)")

            let logout = try await CommandLineTool.run(["logout"], home: home)
            #expect(logout.status == 0)
            #expect(
                logout.output.hasPrefix(
                    "Signed out: the token was removed here. This server revokes none, so it expires"))
            let after = try await CommandLineTool.run(["token"], home: home)
            #expect(after.status == 3)
            #expect(after.errors.contains("nobody is signed in under the profile default; run: counterfoil login"))
        }
    }

    @Test func `a server that revokes is told`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        var script = ScriptedServer.Script()
        script.metadata = { $0.revocationEndpoint = "\($0.issuer)/oauth2/revoke" }
        try await ScriptedServer.run(script) { server in
            #expect(try await Self.login(server, home: home).status == 0)
            let logout = try await CommandLineTool.run(["logout", "--json"], home: home)
            #expect(logout.output.contains("\"revoked\" : true"))
            let form = try #require(server.seen(at: "/oauth2/revoke").first?.form)
            #expect(try form.single("token") == ScriptedServer.accessToken)
        }
    }

    // CL-36 CL-37
    @Test func `no secret is told, however much is asked for`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        try await ScriptedServer.run { server in
            let login = try await Self.login(
                server, home: home, arguments: ["--verbose", "--json", "--scope", "openid"])
            let code = try #require(try server.seen(at: "/oauth2/token").first?.form?.single("code"))
            let verifier = try #require(try server.seen(at: "/oauth2/token").first?.form?.single("code_verifier"))
            for secret in [ScriptedServer.accessToken, ScriptedServer.refreshToken, code, verifier] {
                #expect(!login.output.contains(secret))
                #expect(!login.errors.contains(secret))
            }
            #expect(login.output.contains("\"subject\" : \"alice\""))
            #expect(login.errors.contains("counterfoil: the tokens are there and verified"))
        }
    }

    // CL-37
    @Test func `a server's words cannot steer the terminal`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        var script = ScriptedServer.Script()
        script.tokenAnswer = { _ in
            .json(
                "{\"error\":\"invalid\\u001b[2Jgrant\",\"error_description\":\"\\u001b]0;title\\u0007\\u202ehello\\r\\n\"}",
                status: .badRequest)
        }
        try await ScriptedServer.run(script) { server in
            let login = try await Self.login(server, home: home)
            #expect(login.status == 3)
            #expect(!login.errors.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" })
            #expect(!login.errors.contains("\u{202E}"))
            #expect(login.errors.contains("hello"))
        }
    }

    // CL-27; every kind of failure has its own exit code.
    @Test(arguments: [("refused", 3), ("silent", 4), ("unsafe", 5), ("unavailable", 6), ("no PKCE", 5), ("usage", 64)])
    func `the exit code tells the kinds of failure apart`(kind: String, status: Int32) async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        var script = ScriptedServer.Script()
        var arguments: [String] = []
        switch kind {
        case "refused": script.tokenAnswer = { _ in .json("{\"error\":\"invalid_grant\"}", status: .badRequest) }
        case "silent":
            arguments = ["--timeout", "1"]
            script.callbackBase = { _ in "http://127.0.0.1:1/" }
        case "unsafe": script.tokenAnswer = { _ in .html() }
        case "unavailable": script.metadataAnswer = { _, _ in .html(status: .serviceUnavailable) }
        case "no PKCE": script.metadata = { $0.codeChallengeMethodsSupported = nil }
        default: arguments = ["--redirect-uri", "https://example.com/cb"]
        }
        let (given, options) = (script, arguments)
        try await ScriptedServer.run(given) { server in
            let login = try await Self.login(server, home: home, arguments: options)
            #expect(login.status == status, "\(login.errors)")
            #expect(login.output.isEmpty)
            let token = try await CommandLineTool.run(["token", "--json"], home: home)
            #expect(token.status == 3)
            #expect(token.errors.hasPrefix("{\"error\":\"refused\",\"exit_code\":3,\"message\":\"nobody is signed in"))
        }
    }

    @Test func `a server without PKCE in its metadata is taken when the danger is named`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        var script = ScriptedServer.Script()
        script.metadata = { $0.codeChallengeMethodsSupported = nil }
        try await ScriptedServer.run(script) { server in
            let login = try await Self.login(server, home: home, arguments: ["--assume-pkce"])
            #expect(login.status == 0, "\(login.errors)")
        }
    }

    @Test func `an expired token is not printed, and the sentence says what to do`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        var script = ScriptedServer.Script()
        script.expiresIn = "5"
        try await ScriptedServer.run(script) { server in
            #expect(try await Self.login(server, home: home).status == 0)
            let token = try await CommandLineTool.run(["token"], home: home)
            #expect(token.status == 3)
            #expect(token.output.isEmpty)
            #expect(token.errors.contains("the access token has expired; run counterfoil login again"))
        }
    }

    // CL-44 CL-45
    @Test func `call tells what an API answers, and sends the token nowhere else`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        var script = ScriptedServer.Script()
        script.resource = { head in
            let status = Int((head.path ?? "").drop { $0 != "?" }.dropFirst()) ?? 200
            return ScriptedServer.Answer(
                status: .init(code: status),
                headerFields: status == 302 ? [.location: "http://evil.example.com/"] : [:],
                body: Array("status \(status)".utf8))
        }
        let file = home.appendingPathComponent("photo.json")
        try Data("{\"title\":\"x\"}".utf8).write(to: file)
        try await ScriptedServer.run(script) { server in
            #expect(try await Self.login(server, home: home).status == 0)
            let photos = server.issuer.endpoint("/photos")
            for (status, code) in [(200, 0), (404, 3), (401, 3), (403, 3), (503, 6), (429, 6), (302, 5)]
                as [(Int, Int32)]
            {
                let call = try await CommandLineTool.run(["call", "\(photos)?\(status)"], home: home)
                #expect(call.status == code, "\(status)")
                #expect(call.output == "status \(status)")
            }
            let post = try await CommandLineTool.run(
                ["call", "--data", "@\(file.path)", "--header", "Content-Type: application/json", photos], home: home)
            #expect(post.status == 0, "\(post.errors)")
            let request = try #require(server.seen(at: "/photos").last)
            #expect(request.head.method == .post)
            #expect(request.head.headerFields[.contentType] == "application/json")
            #expect(String(decoding: request.body, as: UTF8.self) == "{\"title\":\"x\"}")
            for arguments in [
                ["http://api.example.com/"], ["--header", "Authorization: Basic x", photos],
                ["--header", "broken", photos],
                ["--data", "@/nonexistent", photos], ["--method", "G E T", photos],
            ] {
                #expect(try await CommandLineTool.run(["call"] + arguments, home: home).status == 64, "\(arguments)")
            }
        }
    }

    @Test func `profiles and stores are kept apart`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        let file = "file:\(home.appendingPathComponent("other/tokens").path)"
        try await ScriptedServer.run { server in
            let login = try await Self.login(server, home: home, arguments: ["--profile", "work", "--store", file])
            #expect(login.status == 0, "\(login.errors)")
            let there = try await CommandLineTool.run(
                ["token", "--profile", "work"], home: home, environment: ["COUNTERFOIL_STORE": file])
            #expect(there.output == ScriptedServer.accessToken + "\n")
            #expect(try await CommandLineTool.run(["token", "--store", file], home: home).status == 3)
            #expect(try await CommandLineTool.run(["token", "--profile", "work"], home: home).status == 3)
        }
        let secret = try await CommandLineTool.run(["token", "--store", "secret-service"], home: home)
        #expect(secret.status == 64)
        #expect(secret.errors.contains("not in this version"))
        #expect(try await CommandLineTool.run(["token", "--store", "nowhere"], home: home).status == 64)
        #expect(try await CommandLineTool.run(["token", "--profile", "a/b"], home: home).status == 64)
    }

    @Test(arguments: ["", "login", "token", "call", "logout"])
    func `the help says everything`(command: String) async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        let help = try await CommandLineTool.run((command.isEmpty ? [] : [command]) + ["--help"], home: home)
        #expect(help.status == 0)
        #expect(help.output == HelpTexts.expected[command])
    }
}
