import CounterfoilClientTesting
@_spi(Counterfoil) import CounterfoilProtocol
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import CounterfoilClient

/// Tests of the redirect of a sign-in, over real connections.
@Suite(.timeLimit(.minutes(2)))
struct NativeSignInRedirectTests {
    /// A receiver that opens the page and takes the response in one step, like those of phones.
    private final class InAppTab: RedirectReceiver, BrowserLauncher {
        let redirectURI: RedirectURI
        let opened = Mutex<[BrowserURL]>([])
        let closed = Mutex(0)
        private let wait = CallbackWait()

        init(_ redirectURI: String) throws { self.redirectURI = try RedirectURI(redirectURI) }

        var browser: (any BrowserLauncher)? { self }

        func expect(_ expectation: CallbackExpectation) { wait.expect(expectation) }

        func open(_ url: BrowserURL) async -> BrowserLaunch {
            opened.withLock { $0.append(url) }
            do {
                let answer = try await StandardTransport().send(TransportRequest(EndpointURL(url.rawValue)))
                let callback = try CallbackURL(answer.head.headerFields[.location] ?? "").callback(at: redirectURI)
                if case .accepted = wait.decide(on: callback) { wait.deliver(callback) }
                return .launched
            } catch { return .failed("\(error)") }
        }

        func callback(within timeout: Duration) async throws(SignInError) -> AuthorizationCallback {
            try await wait.callback(within: timeout)
        }

        func close() async { closed.withLock { $0 += 1 } }
    }

    private static func signIn(at server: ScriptedAuthorizationServer) throws -> NativeSignIn {
        var signIn = try NativeSignIn(issuer: server.issuer.rawValue, clientID: "lightbox", scope: "openid")
        signIn.timeout = .seconds(60)
        return signIn
    }

    // The platform's own way to show the page and to take the response.
    @Test(arguments: ["https://lightbox.example/callback", "com.example.lightbox:/callback"])
    func `a receiver that is also a browser opens the page`(redirectURI: String) async throws {
        try await ScriptedAuthorizationServer.run { server in
            let tab = try InAppTab(redirectURI)
            var signIn = try Self.signIn(at: server)
            signIn.redirect = .receiver { () async throws(SignInError) -> any RedirectReceiver in tab }
            signIn.browser = NoBrowser()
            let launches = Mutex<[BrowserLaunch]>([])
            let credentials = try await signIn.run { event in
                if case .browser(let launch) = event { launches.withLock { $0.append(launch) } }
            }
            #expect(credentials.user?.subject == "alice")
            #expect(tab.opened.withLock { $0.count } == 1)
            #expect(launches.withLock { $0 }.allSatisfy { $0 == .launched })
            #expect(tab.closed.withLock { $0 } == 1)
            #expect(
                server.requests(to: .token).first?.form["redirect_uri"] == redirectURI)
        }
    }

    // Any registered path, and a port from a list.
    @Test func `a registered path and the first free of its ports are used`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let taken = try await LoopbackReceiver.listen()
            let used = try #require(taken.redirectURI.uri.port)
            let free = try await UnassignedPort.one()
            var signIn = try Self.signIn(at: server)
            signIn.redirect = .loopback(
                try LoopbackRedirectURI("http://localhost:31234/a/signin-callback").tryingPorts([used, free]))
            signIn.browser = ScriptedBrowser()
            _ = try await signIn.run()
            #expect(
                server.requests(to: .token).first?.form["redirect_uri"]
                    == "http://localhost:\(free)/a/signin-callback")
            await taken.close()
        }
    }

    // The sign-in fails before any request to the server.
    @Test(.enabled(if: !RedirectOption.System.current.contains(.claimedHTTPS)))
    func `a redirect option that the system lacks is refused before any request`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            var signIn = try Self.signIn(at: server)
            signIn.redirect = try .claimedHTTPS("https://lightbox.example/callback")
            let prepared = signIn
            let error = await #expect(throws: SignInError.self) { try await prepared.run() }
            guard case .unusable = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(server.requests.isEmpty)
        }
    }

    // Responses of two servers that do not identify themselves could be mixed up.
    @Test(arguments: [true, false])
    func `one redirect URI serves two servers only if one of them identifies itself`(namesItself: Bool) async throws {
        var scripts = (ServerScript(.noPushedRequests), ServerScript(.noPushedRequests))
        scripts.0.publicOrigin = "https://one.example.com"
        scripts.1.publicOrigin = "https://two.example.com"
        scripts.0.metadata.omitted = ["authorization_response_iss_parameter_supported"]
        if !namesItself { scripts.1.metadata.omitted = scripts.0.metadata.omitted }
        try await ScriptedAuthorizationServer.run(scripts.0, sibling: scripts.1) { one, other in
            let (uses, transport) = (RedirectURIUses(), LeadingTransport(to: one, other))
            func signIn(at server: ScriptedAuthorizationServer) throws -> NativeSignIn {
                var signIn = try Self.signIn(at: server)
                signIn.transport = transport
                signIn.browser = ScriptedBrowser(over: transport)
                signIn.redirectURIUses = uses
                return signIn
            }
            for _ in 0..<2 { _ = try await signIn(at: one).run() }
            var second = try signIn(at: other)
            if !namesItself {
                let prepared = second
                await #expect {
                    try await prepared.run()
                } throws: {
                    if case .unusable = $0 as? SignInError { true } else { false }
                }
                #expect(other.requests(to: .authorization).isEmpty)
                second.skippingRedirectURICheck = true
            }
            #expect(try await second.run().issuer == other.issuer)
        }
    }

    // Concurrent sign-ins in one process whose redirect URIs differ only in the port.
    @Test func `concurrent sign-ins each receive their own response`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let credentials = try await withThrowingTaskGroup(of: Credentials.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        var signIn = try Self.signIn(at: server)
                        signIn.browser = ScriptedBrowser()
                        return try await signIn.run()
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(credentials.count == 4)
            let exchanges = server.requests(to: .token).map { $0.form["redirect_uri"] }
            #expect(Set(exchanges).count == 4)
        }
    }

    // Cancelling the task that signs in ends the wait and shows a page in the browser.
    @Test func `a sign-in that is cancelled leaves nothing behind`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let prepared = try Self.signIn(at: server)
            let (urls, opening) = AsyncStream.makeStream(of: BrowserURL.self)
            let run = Task {
                var signIn = prepared
                signIn.browser = NoBrowser()
                return try await signIn.run { event in
                    if case .opening(let url) = event { opening.yield(url) }
                }
            }
            let url = try #require(await urls.first { _ in true })
            let answer = try await StandardTransport().send(TransportRequest(EndpointURL(url.rawValue)))
            let callback = try EndpointURL(try #require(answer.head.headerFields[.location]))
            let browser = try RawConnection.Shared(port: try #require(callback.uri.port))
            browser.send("GET \(callback.uri.path)?")
            // This request came after it; its response shows that the connection was accepted.
            _ = try RawConnection.exchange("GET / HTTP/1.1\r\n\r\n", port: try #require(callback.uri.port))
            run.cancel()
            #expect(await browser.rest().contains("This sign-in has ended"))
            await #expect(throws: SignInError.cancelled) { try await run.value }
            #expect(server.requests(to: .token).isEmpty)
        }
    }
}
