import CounterfoilClient
import CounterfoilClientTesting
@_spi(Counterfoil) import CounterfoilProtocol
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// Tests of the sign-out at the server.
@Suite(.timeLimit(.minutes(2)))
struct BrowserSignOutTests {
    private static func signOut(browser: any BrowserLauncher = ScriptedBrowser()) -> BrowserSignOut {
        var signOut = BrowserSignOut(returningTo: .loopback)
        signOut.browser = browser
        signOut.timeout = .seconds(60)
        return signOut
    }

    // OpenID Connect RP-Initiated Logout §2 and §3
    @Test func `the browser goes to the server's page and comes back`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let store: any TokenStore = MemoryTokenStore()
            let credentials = try await SignedIn.at(server, scope: "openid", in: store)
            let browser = ScriptedBrowser()
            let ended = try await TokenSession(ofAnyClientIn: store).signOut(through: Self.signOut(browser: browser))
            #expect(ended.tokens == .revoked)
            #expect(ended.session == .ended)
            #expect(try await store.record(of: .standard) == nil)
            let asked = try #require(server.requests(to: .endSession).first?.query)
            #expect(asked["id_token_hint"] == credentials.idToken?.exposed)
            #expect(asked["client_id"] == "lightbox")
            #expect(asked["post_logout_redirect_uri"]?.hasPrefix("http://127.0.0.1:") == true)
            #expect((asked["state"]?.utf8.count ?? 0) >= 43)
            // No URL contains a token.
            for name in ["access_token", "refresh_token", "token"] { #expect(asked[name] == nil) }
            let page = try #require(try await browser.pages().first)
            #expect(page.statusCode == 200)
            #expect(String(decoding: page.body, as: UTF8.self).contains("You are signed out"))
        }
    }

    // OpenID Connect RP-Initiated Logout §3: the state ties the response to the request.
    @Test func `a response without the state does not end the wait`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let store: any TokenStore = MemoryTokenStore()
            let credentials = try await SignedIn.at(server, scope: "openid", in: store)
            let browser = ScriptedBrowser(beforeCallback: { callback in
                let base = String(callback.prefix { $0 != "?" })
                for forged in ["", "?state=guess", "?code=evil"] {
                    let page = try await StandardTransport()
                        .send(TransportRequest(EndpointURL(base + forged)))
                    #expect(page.statusCode == 400)
                }
            })
            #expect(try await Self.signOut(browser: browser).run(credentials) == .ended)
        }
    }

    @Test func `without a post-logout redirect URI the client does not wait`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let credentials = try await SignedIn.at(server, in: MemoryTokenStore())
            var signOut = BrowserSignOut()
            signOut.browser = ScriptedBrowser()
            let events = Mutex<[BrowserSignOut.Event]>([])
            #expect(try await signOut.run(credentials) { event in events.withLock { $0.append(event) } } == .opened)
            let asked = try #require(server.requests(to: .endSession).first?.query)
            #expect(asked.names == ["client_id"])
            guard case .opening(_, isAwaited: false)? = events.withLock({ $0 }).first else {
                Issue.record("the address was not shown")
                return
            }
        }
    }

    // The browser process of a desktop often lives as long as its window.
    @Test func `a browser that stays open does not hold the sign-out up`() async throws {
        let directory = try TemporaryDirectory()
        let (program, fifo) = (directory.file("stays"), directory.file("fifo"))
        #expect(mkfifo(fifo.path, 0o600) == 0)
        try ShellProgram.write("read line < '\(fifo.path)'", to: program)
        try await ScriptedAuthorizationServer.run { server in
            let credentials = try await SignedIn.at(server, in: MemoryTokenStore())
            var signOut = BrowserSignOut()
            signOut.browser = SystemBrowser(environment: ["BROWSER": program.path])
            #expect(try await signOut.run(credentials) == .opened)
        }
        let writer = open(fifo.path, O_RDWR | O_NONBLOCK)
        _ = write(writer, "\n", 1)
        close(writer)
    }

    @Test(arguments: [nil, "/nonexistent/browser"])
    func `a browser that was not opened is no page that was opened`(command: String?) async throws {
        try await ScriptedAuthorizationServer.run { server in
            let credentials = try await SignedIn.at(server, in: MemoryTokenStore())
            var signOut = BrowserSignOut()
            signOut.browser =
                if let command { SystemBrowser(environment: ["BROWSER": command, "PATH": "/nonexistent"]) } else {
                    NoBrowser()
                }
            #expect(try await signOut.run(credentials) == .notOpened)
        }
    }

    @Test func `a server without an end-session endpoint is reported, and no page is opened`() async throws {
        var script = ServerScript()
        script.metadata.absent.insert(.endSession)
        try await ScriptedAuthorizationServer.run(script) { server in
            let credentials = try await SignedIn.at(server, in: MemoryTokenStore())
            #expect(try await Self.signOut().run(credentials) == .unsupported)
        }
    }

    @Test func `the wait for a browser that does not return has a limit, and the tokens are deleted`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let store: any TokenStore = MemoryTokenStore()
            try await SignedIn.at(server, in: store)
            var signOut = Self.signOut(browser: NoBrowser())
            signOut.timeout = .milliseconds(200)
            let (session, prepared) = (TokenSession(ofAnyClientIn: store), signOut)
            await #expect(throws: SessionError.signedOutHereOnly(.timedOut)) {
                try await session.signOut(through: prepared)
            }
            #expect(try await store.record(of: .standard) == nil)
            #expect(!server.requests(to: .revocation).isEmpty)
        }
    }
}
