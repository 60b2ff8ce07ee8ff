import CounterfoilClientTesting
@_spi(Counterfoil) import CounterfoilProtocol
import TestSupport
import Testing

@testable import CounterfoilClient

/// Tests of a redirect option that turns out to be unusable after the browser was asked to open the page.
@Suite(.timeLimit(.minutes(2)))
struct RedirectFallbackTests {
    /// A receiver like that of a phone, whose system ends the attempt to show the page with an error.
    private final class EndedPage: RedirectReceiver, BrowserLauncher {
        let redirectURI: RedirectURI
        let closed = Mutex(0)
        private let end: SignInError
        private let wait = CallbackWait()

        init(_ redirectURI: String, _ end: SignInError) throws {
            self.redirectURI = try RedirectURI(redirectURI)
            self.end = end
        }

        var browser: (any BrowserLauncher)? { self }

        func expect(_ expectation: CallbackExpectation) { wait.expect(expectation) }

        func open(_ url: BrowserURL) async -> BrowserLaunch {
            wait.end(with: end)
            return .failed("\(end)")
        }

        func callback(within timeout: Duration) async throws(SignInError) -> AuthorizationCallback {
            try await wait.callback(within: timeout)
        }

        func close() async { closed.withLock { $0 += 1 } }
    }

    private static let claimed = "https://lightbox.example/callback"
    private static let missing = SignInError.cannotListen("the app is not associated with lightbox.example")

    // RFC 8252 §7.2
    @Test func `the next redirect option is used if the system refuses the claimed URL`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let page = try EndedPage(Self.claimed, Self.missing)
            var signIn = try NativeSignIn(issuer: server.issuer.rawValue, clientID: "lightbox", scope: "openid")
            signIn.redirect = RedirectOption.receiver { () async throws(SignInError) -> any RedirectReceiver in page }
                .otherwise(.loopback)
            signIn.browser = ScriptedBrowser()
            signIn.timeout = .seconds(60)
            let opened = Mutex<[BrowserURL]>([])
            let credentials = try await signIn.run { event in
                if case .opening(let url) = event { opened.withLock { $0.append(url) } }
            }
            #expect(credentials.user?.subject == "alice")
            #expect(page.closed.withLock { $0 } == 1)
            #expect(opened.withLock { Set($0).count } == 2)
            let redirectURI = try #require(server.requests(to: .token).first?.form["redirect_uri"])
            #expect(redirectURI.hasPrefix("http://127.0.0.1:"))
            #expect(server.requests(to: .token).count == 1)
        }
    }

    @Test func `the error of the last redirect option is thrown`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let pages = [
                try EndedPage(Self.claimed, Self.missing),
                try EndedPage("com.example.lightbox:/callback", .cannotListen("the last one")),
            ]
            var signIn = try NativeSignIn(issuer: server.issuer.rawValue, clientID: "lightbox", scope: "openid")
            signIn.redirect = RedirectOption.receiver { () async throws(SignInError) -> any RedirectReceiver in pages[0]
            }
            .otherwise(.receiver { () async throws(SignInError) -> any RedirectReceiver in pages[1] })
            let prepared = signIn
            await #expect(throws: SignInError.cannotListen("the last one")) { try await prepared.run() }
        }
    }

    @Test(arguments: [SignInError.cancelled, .timedOut, .unsafe(.callback(.wrongState))])
    func `a page that the user closed is not opened in another way`(end: SignInError) async throws {
        try await ScriptedAuthorizationServer.run { server in
            let page = try EndedPage(Self.claimed, end)
            var signIn = try NativeSignIn(issuer: server.issuer.rawValue, clientID: "lightbox", scope: "openid")
            signIn.redirect = RedirectOption.receiver { () async throws(SignInError) -> any RedirectReceiver in page }
                .otherwise(.loopback)
            signIn.browser = ScriptedBrowser()
            let prepared = signIn
            await #expect(throws: end) { try await prepared.run() }
            #expect(page.closed.withLock { $0 } == 1)
            #expect(server.requests(to: .token).isEmpty)
        }
    }
}
