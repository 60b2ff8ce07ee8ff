@_spi(Counterfoil) import CounterfoilClient
import CounterfoilClientTesting
@_spi(Counterfoil) import CounterfoilProtocol
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// Tests of the ways to sign in on the command line, and of the commands that need a sign-in.
@Suite(.timeLimit(.minutes(5)))
struct SignInCommandTests {
    /// Runs a sign-in; a task follows the printed URL in place of the user, or does something else with it.
    static func login(
        _ arguments: [String], client: String? = "lightbox", home: URL, environment: [String: String] = [:],
        input: Int32? = nil,
        visit: @escaping @Sendable (BrowserURL) async throws -> Void = { _ = await ScriptedBrowser().open($0) },
        started: @Sendable (ChildProcess) -> Void = { _ in }
    ) async throws -> CommandLineTool.Outcome {
        let visits = Mutex<[Task<Void, any Error>]>([])
        let outcome = try await CommandLineTool.run(
            ["login", "--timeout", "60"] + (client.map { ["--client-id", $0] } ?? []) + arguments, home: home,
            environment: environment,
            input: input,
            onLine: { line in
                guard line.hasPrefix("Open: "), let url = try? BrowserURL(String(line.dropFirst(6))) else { return }
                visits.withLock { $0.append(Task { try await visit(url) }) }
            }, started: started)
        for visit in visits.withLock({ $0 }) { try await visit.value }
        return outcome
    }

    // RFC 8628 §3.3
    @Test func `login --device prints a URL and a code and waits`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        try await ScriptedAuthorizationServer.run(ServerScript(.authorizationPending)) { server in
            let login = try await Self.login([server.issuer.rawValue, "--device", "--scope", "openid"], home: home)
            #expect(login.status == 0, "\(login.errors)")
            #expect(login.errors.contains("Open: \(server.url(of: .verification))\nCode: BDWP-HQPK\n"))
            let wait = "Waiting 1 minute for your approval on another device; press Control-C to stop."
            #expect(login.errors.contains(wait))
            #expect(login.output.hasPrefix("Signed in at \(server.issuer) as alice."))
            #expect(try await CommandLineTool.run(["token"], home: home).output == "\(server.accessTokens[0])\n")
        }
    }

    // RFC 9449 §7.1
    @Test func `a DPoP token is sent with a proof in each call, also after a refresh`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        try await ScriptedAuthorizationServer.run(ServerScript(.requiresDPoP)) { server in
            let login = try await Self.login(
                [server.issuer.rawValue, "--browser", "print", "--dpop", "--scope", "openid"], home: home)
            #expect(login.status == 0, "\(login.errors)")
            #expect(try await CommandLineTool.run(["call", server.url(of: .api)], home: home).status == 0)
            server.expireAccessTokens()
            #expect(try await CommandLineTool.run(["call", server.url(of: .api)], home: home).status == 0)
            let token = try await CommandLineTool.run(["token", "--json"], home: home)
            #expect(token.output.contains("\"token_type\" : \"DPoP\""))
            #expect(try await CommandLineTool.run(["whoami"], home: home).output.contains("sub: alice\n"))
        }
    }

    @Test func `without an issuer the API names its server, and the token is for that API`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        try await ScriptedAuthorizationServer.run(ServerScript(.noPushedRequests)) { server in
            let api = server.url(of: .api)
            let login = try await Self.login(["--resource", api, "--browser", "print"], home: home)
            #expect(login.status == 0, "\(login.errors)")
            #expect(server.requests(to: .api).first?.authorization == nil)
            #expect(server.requests(to: .authorization).first?.query.all("resource") == [api])
            #expect(server.requests(to: .token).first?.form.all("resource") == [api])
            #expect(try await CommandLineTool.run(["call", api], home: home).status == 0)
            let elsewhere = try await CommandLineTool.run(["call", "https://other.example.com/"], home: home)
            #expect(elsewhere.status == 64)
            #expect(elsewhere.errors.contains("the access token is not for https://other.example.com"))
        }
    }

    // Over SSH, the browser is on another device.
    @Test(arguments: [false, true])
    func `the response is pasted if the browser is on another device, and other text is refused`(
        isOverSSH: Bool
    ) async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        try await ScriptedAuthorizationServer.run { server in
            let keyboard = try InputPipe()
            let login = try await Self.login(
                [server.issuer.rawValue] + (isOverSSH ? [] : ["--browser", "paste"]), home: home,
                environment: isOverSSH ? ["SSH_CONNECTION": "192.0.2.1 5000 192.0.2.2 22"] : [:],
                input: keyboard.readingEnd
            ) { url in
                let answer = try await StandardTransport().send(TransportRequest(EndpointURL(url.rawValue)))
                keyboard.write("no address")
                keyboard.write(answer.head.headerFields[.location] ?? "")
            }
            #expect(login.status == 0, "\(login.errors)")
            #expect(login.errors.contains("Then paste the URL of the page"))
            #expect(login.errors.contains("That is not a complete URL."))
            for secret in server.secrets { #expect(!login.errors.contains(secret)) }
        }
    }

    @Test func `Control-C ends the wait with a message and leaves no profile`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        try await ScriptedAuthorizationServer.run { server in
            let process = Mutex<ChildProcess?>(nil)
            let login = try await Self.login(
                [server.issuer.rawValue, "--browser", "print"], home: home,
                visit: { _ in
                    if let identifier = process.withLock({ $0?.identifier }) { kill(identifier, SIGINT) }
                }, started: { started in process.withLock { $0 = started } })
            #expect(login.status == 130)
            #expect(login.errors.hasSuffix("Error: the sign-in was cancelled\n"))
            #expect(try await CommandLineTool.run(["profiles"], home: home).output.isEmpty)
        }
    }

    // RFC 9126 §2.2: a pushed request expires within about a minute, and login waits five minutes.
    @Test(arguments: [["--browser", "print"], ["--browser", "paste"], []])
    func `a URL that the user opens is not pushed, or login says when it expires`(options: [String]) async throws {
        let directory = try TemporaryDirectory()
        let environment = options.isEmpty ? ["SSH_CONNECTION": "192.0.2.1 5000 192.0.2.2 22"] : [:]
        let isPasted = options.last != "print"
        try await ScriptedAuthorizationServer.run { server in
            for isRequired in [false, true] {
                server.change { $0.authorization.requiresPushedRequest = isRequired }
                let keyboard = try InputPipe()
                let pushed = server.requests(to: .pushedAuthorization).count
                let login = try await Self.login(
                    [server.issuer.rawValue, "--timeout", "90"] + options, home: directory.url,
                    environment: environment,
                    input: isPasted ? keyboard.readingEnd : nil
                ) { url in
                    guard isPasted else { return _ = await ScriptedBrowser().open(url) }
                    let answer = try await StandardTransport().send(TransportRequest(EndpointURL(url.rawValue)))
                    keyboard.write(answer.head.headerFields[.location] ?? "")
                }
                #expect(login.status == 0, "\(login.errors)")
                #expect(server.requests(to: .pushedAuthorization).count == pushed + (isRequired ? 1 : 0))
                #expect(
                    login.errors.contains("The URL expires in 1 minute unless it is opened; after that, start again.\n")
                        == isRequired, "\(login.errors)")
            }
        }
    }

    // RFC 9126 §5: Spring announces the endpoint of pushed requests, which responds with status 401.
    @Test(arguments: [("auto", 0, 0), ("always", 5, 1), ("never", 0, 0)] as [(String, Int32, Int)])
    func `--par decides if a request is pushed, and if it may be sent through the browser`(
        mode: String, status: Int32, pushed: Int
    ) async throws {
        let directory = try TemporaryDirectory()
        try await ScriptedAuthorizationServer.run(.product(.springAuthorizationServer)) { server in
            let login = try await Self.login(
                [server.publishedIssuer, "--browser", "print", "--scope", "openid", "--par", mode],
                home: directory.url)
            #expect(login.status == status, "\(login.errors)")
            #expect(server.requests(to: .pushedAuthorization).count == pushed)
            #expect(login.errors.contains("Open: ") == (status == 0))
            #expect(login.errors.contains("(status 401)") == (status != 0), "\(login.errors)")
        }
    }

    // The server sends no response to an unregistered client (RFC 6749 §4.1.2.1).
    @Test func `a client that is not registered is reported while the program waits`() async throws {
        let directory = try TemporaryDirectory()
        var script = ServerScript.product(.hydra)
        script.clients.known = ["other-client"]
        try await ScriptedAuthorizationServer.run(script) { server in
            let process = Mutex<ChildProcess?>(nil)
            let login = try await CommandLineTool.run(
                ["login", server.publishedIssuer, "--client-id", "lightbox", "--browser", "print"],
                home: directory.url,
                onLine: { line in
                    guard line.hasPrefix("The sign-in will probably fail: "),
                        line.contains("is probably not registered"),
                        let login = process.withLock({ $0 })
                    else { return }
                    kill(login.identifier, SIGINT)
                }, started: { started in process.withLock { $0 = started } })
            #expect(login.status == 130, "\(login.errors)")
            #expect(login.errors.contains("The sign-in will probably fail: \(server.issuer.origin) "))
        }
    }

    @Test func `without a client ID the program registers itself once and says so`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        try await ScriptedAuthorizationServer.run { server in
            let arguments = [server.issuer.rawValue, "--browser", "print"]
            let first = try await Self.login(arguments, client: nil, home: home)
            #expect(first.status == 0, "\(first.errors)")
            #expect(first.errors.contains("This client was registered at \(server.issuer).\n"))
            #expect(try await CommandLineTool.run(["logout"], home: home).status == 0)
            let second = try await Self.login(arguments, client: nil, home: home)
            #expect(second.status == 0, "\(second.errors)")
            #expect(second.errors.contains("This client has been registered at \(server.issuer) since 2"))
            let request = try #require(server.requests(to: .registration).first?.json)
            #expect(server.requests(to: .registration).count == 1)
            #expect(request["application_type"] == "native")
            #expect(request["client_name"] == "Counterfoil")

            let named = try await Self.login(arguments, home: home)
            #expect(named.status == 0)
            #expect(!named.errors.contains("registered"))
            #expect(server.requests(to: .registration).count == 1)
        }
    }

    @Test func `a metadata document is used if the server supports it, otherwise a client ID is demanded`()
        async throws
    {
        let directory = try TemporaryDirectory()
        let home = directory.url
        let document = "https://lightbox.example/client.json"
        var script = ServerScript()
        script.metadata.replaced = [WireMember("client_id_metadata_document_supported", true)]
        try await ScriptedAuthorizationServer.run(script) { server in
            let login = try await Self.login(
                [server.issuer.rawValue, "--browser", "print", "--client-metadata", document], client: nil, home: home)
            #expect(login.status == 0, "\(login.errors)")
            #expect(
                login.errors.contains(
                    "This client is identified at \(server.issuer) by its metadata document \(document)."))
            #expect(server.requests(to: .token).last?.form["client_id"] == document)
        }
        script = ServerScript()
        script.metadata.absent.insert(.registration)
        try await ScriptedAuthorizationServer.run(script) { server in
            let login = try await Self.login(
                [server.issuer.rawValue, "--browser", "print", "--client-metadata", document], client: nil, home: home)
            #expect(login.status == 64)
            #expect(
                login.errors.contains("Get a client ID from the operator of the server and pass it with --client-id"))
            #expect(!login.errors.contains("Open: "))
        }
    }

    @Test(arguments: [
        (["--client-secret-file", "/nonexistent"], "A client secret requires a client ID"),
        (["--client-metadata", "http://lightbox.example/c"], "the URL of a client's metadata document must be https"),
    ])
    func `a secret without a client ID and an insecure metadata URL are refused`(arguments: [String], words: String)
        async throws
    {
        let directory = try TemporaryDirectory()
        let login = try await Self.login(
            ["https://id.example.com"] + arguments, client: nil, home: directory.url)
        #expect(login.status == 64)
        #expect(login.errors.contains(words), "\(login.errors)")
    }

    @Test func `a client key is read only from a file that other users cannot read`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        let file = directory.file("key.json")
        let secret = "UwOyHXKmSVouZd0XAqlSu-D-rcPLlV_K-ARH7TNmu_I"
        try Data(#"{"kty":"EC","crv":"P-256","d":"\#(secret)"}"#.utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
        try await ScriptedAuthorizationServer.run { server in
            let arguments = [
                server.issuer.rawValue, "--browser", "print", "--verbose", "--client-key", file.path,
                "--client-key-id", "2026-11",
            ]
            let open = try await Self.login(arguments, home: home)
            #expect(open.status == 64)
            #expect(open.errors.contains("run: chmod 600 \(file.path)"))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
            let login = try await Self.login(arguments, home: home)
            #expect(login.status == 0, "\(login.errors)")
            #expect(!(login.output + login.errors).contains(secret))
            let assertion = try #require(server.requests(to: .token).last?.form["client_assertion"])
            let header = try #require(Base64URL.decode(String(assertion.prefix { $0 != "." })))
            #expect(String(decoding: header, as: UTF8.self).contains(#""kid":"2026-11""#))
        }
    }

    // OpenID Connect RP-Initiated Logout §2
    @Test func `logout --browser ends the session at the server`() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.url
        try await ScriptedAuthorizationServer.run { server in
            for arguments in [["--redirect-uri", "http://127.0.0.1/callback"], []] {
                let login = try await Self.login(
                    [server.issuer.rawValue, "--browser", "print", "--scope", "openid"], home: home)
                #expect(login.status == 0)
                let visits = Mutex<[Task<Void, Never>]>([])
                let logout = try await CommandLineTool.run(
                    ["logout", "--browser", "print"] + arguments, home: home,
                    onLine: { line in
                        guard line.hasPrefix("Open: "), let url = try? BrowserURL(String(line.dropFirst(6))) else {
                            return
                        }
                        visits.withLock { $0.append(Task { _ = await ScriptedBrowser().open(url) }) }
                    })
                for visit in visits.withLock({ $0 }) { await visit.value }
                #expect(logout.status == 0, "\(logout.errors)")
                #expect(
                    logout.output.contains(
                        arguments.isEmpty
                            ? "Open the URL above to sign out at the server too."
                            : "The session at the server has ended."
                    ))
                #expect(server.requests(to: .endSession).last?.query["id_token_hint"] != nil)
            }
            #expect(
                try await CommandLineTool.run(["logout", "--redirect-uri", "http://127.0.0.1/"], home: home).status
                    == 64)
        }
    }

    @Test(arguments: [
        (["--vendor", "nobody"], "it must be one of auth0, fotoware, github"),
        (["--vendor", "fotoware"], "FotoWare has a server for each customer"),
        (["a b", "--vendor", "fotoware"], "is not a host name"),
        (["--vendor", "github"], "GitHub requires the client secret"),
        (
            ["photos.example.com", "--vendor", "fotoware", "--client-secret-file", "/etc/hostname"],
            "the client secret is not private: /etc/hostname is accessible to other users"
        ),
        ([], "name the server, such as https://id.example.com"),
        (["https://id.example.com", "--device", "--browser", "paste"], "--device receives no callback here"),
        (
            ["https://id.example.com", "--store", "nowhere"],
            "it must be auto, keychain, secret-service, memory or file:PATH"
        ),
        (["https://id.example.com", "--store", "file:~/x"], "a ~ is not expanded"),
        // RFC 3986 §3.2.2
        (["https://id.example.com", "--redirect-uri", "http://::1/cb"], "in brackets: http://[::1]/cb"),
        (["https://id.example.com", "--resource", "x"], "the resource is not an absolute URI"),
        (["https://id.example.com", "--resource", "/photos"], "the resource is not an absolute URI"),
        (["https://id.example.com", "--resource", "https://a.example/#x"], "the resource must not have a fragment"),
    ])
    func `invalid options are refused before a page is opened`(arguments: [String], words: String) async throws {
        let directory = try TemporaryDirectory()
        let login = try await Self.login(arguments, home: directory.url)
        #expect(login.status == 64)
        #expect(login.errors.contains(words), "\(login.errors)")
        #expect(!login.errors.contains("Open: "))
    }

    // Over SSH, pasting is the default without an option. Standard input cannot supply both the secret and the
    // pasted URL.
    @Test(arguments: [["--browser", "paste"], []])
    func `standard input supplies a secret or the pasted URL, not both`(arguments: [String]) async throws {
        let directory = try TemporaryDirectory()
        let login = try await Self.login(
            ["--vendor", "github", "--client-secret-stdin"] + arguments, home: directory.url,
            environment: ["SSH_CONNECTION": "192.0.2.1 5000 192.0.2.2 22"])
        #expect(login.status == 64)
        #expect(
            login.errors.contains("Standard input cannot supply both the secret and the pasted URL"), "\(login.errors)")
        #expect(!login.errors.contains("Open: "))
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func `a shell can complete every command`(shell: String) async throws {
        let directory = try TemporaryDirectory()
        let script = try await CommandLineTool.run(["--generate-completion-script", shell], home: directory.url)
        #expect(script.status == 0)
        for word in ["login", "token", "call", "whoami", "logout", "doctor", "profiles", "redirect-uri"] {
            #expect(script.output.contains(word))
        }
    }
}
