import CounterfoilClient
import CounterfoilClientTesting
@_spi(Counterfoil) import CounterfoilProtocol
import Foundation
import TestSupport
import Testing

/// Tests of a sign-in that uses the device grant where no browser can be opened.
@Suite(.timeLimit(.minutes(2)))
struct DeviceFallbackTests {
    /// A launcher that opens nothing.
    struct Launcher: BrowserLauncher {
        var isOutOfReach = false
        var outcome = BrowserLaunch.failed("xdg-open is not installed")

        func open(_ url: BrowserURL) async -> BrowserLaunch { outcome }
    }

    /// The values that a program shows during a sign-in.
    private final class ShownValues: Sendable {
        let codes = Mutex<[String]>([])
        let urls = Mutex<[BrowserURL]>([])
    }

    private static func signIn(
        at server: ScriptedAuthorizationServer, by launcher: some BrowserLauncher, told: ShownValues = ShownValues()
    ) async throws -> Credentials {
        var signIn = try NativeSignIn(
            issuer: server.issuer.rawValue, clientID: "lightbox", scope: "openid", apiOrigins: [server.origin])
        signIn.browser = launcher
        return try await run(signIn, told)
    }

    private static func run(_ signIn: NativeSignIn, _ told: ShownValues) async throws -> Credentials {
        try await signIn.runWithDeviceFallback { event in
            if case .opening(let url) = event { told.urls.withLock { $0.append(url) } }
        } show: { instructions in
            told.codes.withLock { $0.append(instructions.userCode) }
        }
    }

    // RFC 8628, RFC 8252 §6
    @Test(arguments: [
        Launcher(isOutOfReach: true), Launcher(), Launcher(outcome: .notAttempted),
    ])
    func `without a browser the user signs in on another device`(launcher: Launcher) async throws {
        try await ScriptedAuthorizationServer.run { server in
            let told = ShownValues()
            let credentials = try await Self.signIn(at: server, by: launcher, told: told)
            #expect(credentials.user?.subject == "alice")
            #expect(credentials.apiOrigins == [try APIOrigin(server.origin)])
            #expect(told.codes.withLock { $0 } == ["BDWP-HQPK"])
            // A launcher that knows it cannot open a browser is not asked to.
            #expect(told.urls.withLock { $0.isEmpty } == launcher.isOutOfReach)
            #expect(server.requests(to: .authorization).isEmpty)
        }
    }

    @Test func `with a browser no code is shown`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let told = ShownValues()
            let credentials = try await Self.signIn(at: server, by: ScriptedBrowser(), told: told)
            #expect(credentials.user?.subject == "alice")
            #expect(told.codes.withLock { $0.isEmpty })
            #expect(server.requests(to: .deviceAuthorization).isEmpty)
        }
    }

    @Test func `a client that cannot listen uses another device`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            var signIn = try NativeSignIn(issuer: server.issuer.rawValue, clientID: "lightbox", scope: "openid")
            signIn.redirect = .receiver { () throws(SignInError) in throw .cannotListen("the port is in use") }
            let told = ShownValues()
            #expect(try await Self.run(signIn, told).user?.subject == "alice")
            #expect(told.codes.withLock { $0.count } == 1)
        }
    }

    @Test func `at a server without the device grant the user opens the URL by hand`() async throws {
        var script = ServerScript()
        script.metadata.absent.insert(.deviceAuthorization)
        try await ScriptedAuthorizationServer.run(script) { server in
            let told = ShownValues()
            async let credentials = Self.signIn(at: server, by: Launcher(), told: told)
            let url = try await Waiting.until("the URL") { told.urls.withLock { $0.first } }
            _ = await ScriptedBrowser().open(url)
            #expect(try await credentials.user?.subject == "alice")
            #expect(told.codes.withLock { $0.isEmpty })
        }
    }

    @Test func `a cancelled sign-in does not continue on another device`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let told = ShownValues()
            let signIn = Task { try await Self.signIn(at: server, by: Launcher(outcome: .launched), told: told) }
            _ = try await Waiting.until("the URL") { told.urls.withLock { $0.first } }
            signIn.cancel()
            await #expect(throws: SignInError.cancelled) { try await signIn.value }
            #expect(server.requests(to: .deviceAuthorization).isEmpty)
        }
    }

    @Test func `the server's refusal ends the sign-in in the browser, without another device`() async throws {
        try await ScriptedAuthorizationServer.run(ServerScript(.deniesAccess)) { server in
            await #expect(throws: SignInError.self) { try await Self.signIn(at: server, by: ScriptedBrowser()) }
            #expect(server.requests(to: .deviceAuthorization).isEmpty)
        }
    }

    #if os(Linux)
        // The example program `terminal`, over SSH and on a machine whose opener is missing.
        @Test(arguments: [["SSH_CONNECTION": "192.0.2.1 5000 192.0.2.2 22"], ["PATH": "/nonexistent"]])
        func `the example signs in on another device and stays signed in`(environment: [String: String]) async throws {
            let directory = try TemporaryDirectory()
            let home = environment.merging(["HOME": directory.url.path]) { $1 }
            try await ScriptedAuthorizationServer.run { server in
                let arguments = [server.issuer.rawValue, "lightbox", server.url(of: .api)]
                let first = try await RunningProgram(.terminal, arguments, environment: home, in: directory).ended()
                #expect(first.status == 0, "\(first.errors)")
                #expect(
                    first.errors.contains(
                        "Open \(server.url(of: .verification)) on another device and enter BDWP-HQPK.\n"),
                    "\(first.errors)")

                server.expireAccessTokens()
                let second = try await RunningProgram(.terminal, arguments, environment: home, in: directory).ended()
                #expect(second.status == 0 && second.errors.isEmpty, "\(second.errors)")
                #expect(second.output == first.output && !first.output.isEmpty)
            }
        }
    #endif
}
