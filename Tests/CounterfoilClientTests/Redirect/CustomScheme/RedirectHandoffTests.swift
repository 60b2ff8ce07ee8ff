@_spi(Counterfoil) import CounterfoilClient
import CounterfoilClientTesting
@_spi(Counterfoil) import CounterfoilProtocol
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// Tests of an executable that a desktop starts with a URL, such as `counterfoil`.
@Suite(.timeLimit(.minutes(2)))
struct RedirectHandoffTests {
    @Test func `a program that was started for another purpose continues`() {
        #expect(RedirectHandoff.deliver(["lightbox"], environment: [:]) == nil)
        #expect(RedirectHandoff.deliver(["lightbox", "login", "receive-redirect"], environment: [:]) == nil)
        #expect(RedirectHandoff.deliver([], environment: [:]) == nil)
    }

    @Test(arguments: [
        [], ["com.example.app:/cb?code=a", "more"], ["no address"], ["com.example.app:/cb?code=a\nb"], [""], ["code"],
        ["com.example.app:/cb?code=é"],
    ])
    func `arguments that no desktop passes are not delivered`(arguments: [String]) {
        #expect(
            RedirectHandoff.deliver(
                ["lightbox", "receive-redirect"] + arguments, environment: ["HOME": "/nonexistent"])
                == .unusable)
    }

    #if os(Linux)
        // The code appears in the arguments and nowhere else.
        @Test func `a response without a waiting sign-in is ignored and not printed`() async throws {
            let desktop = try Desktop()
            let ended = try await DesktopProgram.run(
                [
                    try Product.client.executable.path, "receive-redirect",
                    "com.example.nobody:/cb?code=evil-c0de&state=s",
                ], environment: desktop.environment)
            #expect(ended.status == 3)
            #expect(
                ended.errors
                    == "No app is waiting for this response. It was ignored; to sign in, start in the app.\n"
            )
            let misused = try await DesktopProgram.run(
                [try Product.client.executable.path, "receive-redirect", "--c0de", "x"],
                environment: desktop.environment)
            #expect(misused.status == 3)
            #expect(!misused.errors.contains("c0de"))
        }

        // The command line from the sign-in to the token.
        @Test func `login with a private-use scheme ends with a token`() async throws {
            let desktop = try Desktop()
            let environment = desktop.environment
            let home = desktop.home
            try await ScriptedAuthorizationServer.run { server in
                let opened = Mutex<[Task<Int32, any Error>]>([])
                let login = try await CommandLineTool.run(
                    [
                        "login", server.issuer.rawValue, "--client-id", "lightbox", "--browser", "print", "--timeout",
                        "60",
                    ]
                        + ["--redirect-uri", "com.example.login:/callback", "--verbose"],
                    home: home, environment: environment
                ) { line in
                    guard line.hasPrefix("Open: ") else { return }
                    opened.withLock { tasks in
                        tasks.append(Task { try await Self.follow(String(line.dropFirst(6)), environment) })
                    }
                }
                #expect(login.status == 0, "\(login.errors)")
                for task in opened.withLock({ $0 }) { #expect(try await task.value == 0) }
                let form = try #require(server.requests(to: .token).first?.form)
                #expect(form["redirect_uri"] == "com.example.login:/callback")
                let code = try #require(form["code"])
                #expect(!login.errors.contains(code) && !login.output.contains(code))
                let token = try await CommandLineTool.run(["token"], home: home, environment: environment)
                #expect(token.output == server.accessTokens[0] + "\n")
            }
            #expect(desktop.files(in: desktop.applications) == [])
            #expect(desktop.text(of: desktop.choices) == nil)
        }

        @Test func `the next program removes the files of a killed one`() async throws {
            let desktop = try Desktop()
            let environment = desktop.environment
            let home = desktop.home
            try await ScriptedAuthorizationServer.run { server in
                let errors = try OutputPipe()
                let login = try ChildProcess(
                    path: try Product.client.executable.path,
                    arguments: ["login", server.issuer.rawValue, "--client-id", "lightbox", "--browser", "print"]
                        + ["--redirect-uri", "com.example.killed:/callback"],
                    environment: environment.merging(["HOME": home.path]) { $1 }, standardError: errors.writingEnd)
                _ = await errors.text { line in
                    if line.hasPrefix("Open: ") { kill(login.identifier, SIGKILL) }
                }
                #expect(await login.exitStatus == 128 + SIGKILL)
            }
            let stale = ["counterfoil-redirect-com.example.killed.desktop"]
            #expect(desktop.files(in: desktop.applications) == stale)
            #expect(desktop.files(in: desktop.sockets).count == 1)

            let receiver = try await CustomSchemeReceiver.listen(
                at: CustomSchemeRedirectURI("com.example.next:/callback"), environment: environment)
            #expect(
                desktop.files(in: desktop.applications) == ["counterfoil-redirect-com.example.next.desktop"])
            #expect(desktop.text(of: desktop.choices)?.contains("killed") == false)
            #expect(desktop.files(in: desktop.sockets).count == 1)
            await receiver.close()
        }

        // A user who follows an old link also removes the stale entry.
        @Test func `a stale entry is removed when it is used`() async throws {
            let desktop = try Desktop()
            let name = "counterfoil-redirect-com.example.stale.desktop"
            try desktop.write("[Desktop Entry]\n", to: desktop.applications.appendingPathComponent(name))
            try desktop.write(
                "[Default Applications]\nx-scheme-handler/com.example.stale=\(name);\n", to: desktop.choices)
            #expect(
                RedirectHandoff.deliver(
                    ["x", "receive-redirect", "com.example.stale:/callback?code=a"], environment: desktop.environment)
                    == .noReceiver)
            #expect(desktop.files(in: desktop.applications) == [])
            #expect(desktop.text(of: desktop.choices) == nil)
        }

        /// Follows the redirects of the server, like a browser that passes private-use schemes to the desktop.
        private static func follow(_ url: String, _ environment: [String: String]) async throws -> Int32 {
            let answer = try await StandardTransport().send(TransportRequest(EndpointURL(url)))
            let location = try #require(answer.head.headerFields[.location])
            let program = try Product.client.executable.path
            let opener = Desktop.openers.first ?? [program, RedirectHandoff.command]
            return try await DesktopProgram.run(opener + [location], environment: environment).status
        }
    #endif
}
