@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

/// A wall clock that jumps an hour either way, in a running server or before a restart.
///
/// Every session that was valid stays valid, and no other becomes valid.
struct ClockJumpTests {
    private static let jumps: [TimeInterval] = [3600, -3600]

    /// Accepts logout notifications, and refuses the first.
    private final class Listener: LogoutNoticeSender {
        private let received = Mutex<[LogoutNotice]>([])
        var notices: [LogoutNotice] { received.withLock { $0 } }

        func send(_ notice: LogoutNotice) async -> LogoutNoticeOutcome {
            received.withLock { notices in
                notices.append(notice)
                return .answered(status: notices.count == 1 ? 503 : 200)
            }
        }
    }

    private func server(_ test: TestServer) async throws -> TestServer {
        try await TestServer(store: test.store, clock: test.clock)
    }

    // The lifetime of a code is measured by the monotonic clock, not by the wall clock.
    @Test(arguments: jumps)
    func `a clock jump does not change the lifetime of a code`(jump: TimeInterval) async throws {
        let test = try await TestServer()
        let attempt = Attempt(test)
        let (first, second) = (try await attempt.authorize().code, try await attempt.authorize().code)
        test.clock.jump(by: jump)
        test.clock.advance(by: 59)
        #expect(await test.redeem(attempt.exchange(first)).status == .ok)
        test.clock.advance(by: 1)
        #expect(try await test.redeem(attempt.exchange(second)).tokenError.error == "invalid_grant")
    }

    // The idle and absolute limits of a session and the lifetime of a form are measured in the same way.
    @Test(arguments: jumps)
    func `a clock jump does not change the lifetime of a session or a form`(jump: TimeInterval) async throws {
        let test = try await TestServer { settings in
            settings.sessionIdleLifetime = 1000
            settings.pageLifetime = 500
        }
        let client = try await test.register(
            "Own", type: .web, redirectURIs: ["https://own.example/cb"], isFirstParty: true)
        let attempt = Attempt(test, by: client, at: "https://own.example/cb")
        var browser = test.browser()
        var reply = try await browser.open(attempt.url)
        test.clock.jump(by: jump)
        test.clock.advance(by: 499)
        reply = try await browser.signIn(on: reply, username: "alice", password: TestServer.password)
        #expect(try reply.goOnPage.kind == .allowed(codeLifetime: 60))
        test.clock.jump(by: jump)
        test.clock.advance(by: 999)
        #expect(try await browser.open(attempt.with("prompt", "none").url).code.exposed.isEmpty == false)
        test.clock.jump(by: -2 * jump)
        test.clock.advance(by: 1001)
        #expect(try await browser.open(attempt.with("prompt", "none").url).redirectedError.code == .loginRequired)
    }

    // Whatever times a token contains, the next refresh succeeds, and a revoked grant stays revoked.
    @Test(arguments: jumps)
    func `a client refreshes tokens across a jump, and not those of a revoked grant`(jump: TimeInterval) async throws {
        let stayed = try await RefreshTokenGrantTests.Stayed(try await TestServer())
        let test = stayed.test
        let api = try await test.addAPI("https://id.example.com")
        func userInfo(_ tokens: TokenResponse) async -> HTTPResponse.Status {
            await test.send(
                .get, to: .userInfo, fields: [.authorization: "Bearer \(tokens.accessToken.exposed)"]
            ).status
        }
        #expect(await userInfo(stayed.tokens) == .ok)
        test.clock.jump(by: jump)
        let tokens = try await stayed.refresh().tokenResponse
        #expect(await userInfo(tokens) == .ok)
        #expect(try await api.sees(tokens.accessToken.exposed))
        let form = FormParameters([
            "client_id": stayed.client.id.rawValue, "token": try #require(tokens.refreshToken).exposed,
        ])
        #expect(await test.post(form, to: .revocation).status == .ok)
        for jump in [jump, -2 * jump] {
            test.clock.jump(by: jump)
            for token in [stayed.tokens, tokens] {
                #expect(try await stayed.refresh(token.refreshToken).status == .badRequest)
                #expect(try await api.sees(token.accessToken.exposed) == false)
                #expect(await userInfo(token) == .unauthorized)
            }
        }
    }

    // The times in a token are wall clock times, before and after the jump.
    @Test(arguments: jumps)
    func `an access token from before the jump expires by the clock of its readers`(
        jump: TimeInterval
    ) async throws {
        let test = try await TestServer()
        let api = try await test.addAPI("https://id.example.com")
        let token = try await Attempt(test, for: "openid photos.read").tokens().accessToken.exposed
        test.clock.jump(by: jump)
        #expect(try await api.sees(token) == (jump < 0))
        let fresh = try await Attempt(test, for: "openid photos.read").tokens().accessToken.exposed
        #expect(try await api.sees(fresh))
    }

    // The server accepts its own tokens at its own endpoints, whatever its wall clock says of their issue time.
    @Test func `UserInfo accepts an unexpired access token from before the jump`() async throws {
        let test = try await TestServer()
        let token = try await Attempt(test, for: "openid").tokens().accessToken.exposed
        test.clock.jump(by: -3600)
        let reply = await test.send(.get, to: .userInfo, fields: [.authorization: "Bearer \(token)"])
        #expect(reply.status == .ok)
        test.clock.jump(by: 7200)
        let late = await test.send(.get, to: .userInfo, fields: [.authorization: "Bearer \(token)"])
        #expect(late.status == .unauthorized)
    }

    // OpenID Connect Core §12.2: an API computes the age of the sign-in by its wall clock, and small
    // corrections of the clock do not move `auth_time`.
    @Test(arguments: jumps + [14, -14])
    func `tokens state the age of the sign-in`(jump: TimeInterval) async throws {
        let stayed = try await RefreshTokenGrantTests.Stayed(try await TestServer())
        let test = stayed.test
        let signedIn = Int(test.clock.now.timeIntervalSince1970)
        test.clock.advance(by: 600)
        test.clock.jump(by: jump)
        let tokens = try await stayed.refresh().tokenResponse
        for token in [tokens.accessToken.exposed, try #require(tokens.idToken).exposed] {
            let told = try IssuedTokens.parts(of: token).claims["auth_time"] as? Int
            #expect(told == signedIn + (abs(jump) < 30 ? 0 : Int(jump)))
            let issued = try #require(try IssuedTokens.parts(of: token).claims["iat"] as? Int)
            #expect(try #require(told) <= issued)
        }
    }

    // OpenID Connect Back-Channel Logout §2.4: a logout token has the current wall clock time; retries are
    // timed by the monotonic clock.
    @Test(arguments: jumps)
    func `a logout token has the wall clock time, and its retry is on time`(jump: TimeInterval) async throws {
        let listener = Listener()
        let party = try await RelyingParty(
            backchannelLogoutURI: "https://rp.example.net/backchannel", logoutSender: listener)
        var browser = party.test.browser()
        let hint = try #require(try await party.tokens(party.attempt(), in: &browser).idToken).exposed
        party.test.clock.jump(by: jump)
        // The hint may have expired, or be from the future.
        _ = try await browser.open("/oauth2/logout?" + FormParameters(["id_token_hint": hint]).encoded).signedOutPage
        let notifier = try #require(party.test.server.logoutNotifier)
        #expect(try await notifier.deliverDue() == 1)
        party.test.clock.jump(by: -2 * jump)
        party.test.clock.advance(by: 9)
        #expect(try await notifier.deliverDue() == 0)
        party.test.clock.advance(by: 1)
        #expect(try await notifier.deliverDue() == 1)
        let issued = try listener.notices.map { notice in
            try IssuedTokens.parts(of: try #require(notice.form.pairs.first?.value)).claims["iat"] as? Int
        }
        let now = Int(party.test.clock.now.timeIntervalSince1970)
        #expect(issued == [now - 10 + Int(jump), now - Int(jump)])
    }

    // A restarted server starts from the wall clock at that time.
    @Test(arguments: jumps)
    func `a server restarted after a jump keeps its sessions`(jump: TimeInterval) async throws {
        let stayed = try await RefreshTokenGrantTests.Stayed(try await TestServer())
        let test = stayed.test
        let client = try await test.register(
            "Own", type: .web, redirectURIs: ["https://own.example/cb"], isFirstParty: true)
        let attempt = Attempt(test, by: client, at: "https://own.example/cb")
        var (browser, signedOut) = (test.browser(), test.browser())
        _ = try await attempt.authorize(with: &browser)
        _ = try await signedOut.signInToConsole(username: "alice")
        let page = try await signedOut.open("/oauth2/logout").signOutPage
        let old = signedOut.cookies
        _ = try await signedOut.submit(
            FormParameters(["request": page.request, "ticket": page.ticket, "decision": "sign-out"]), to: page.action)
        let successor = try await stayed.refresh().tokenResponse.refreshToken

        test.clock.advance(by: jump)
        let again = try await server(test)
        var sameBrowser = again.browser()
        sameBrowser.cookies = browser.cookies
        #expect(try await sameBrowser.open(attempt.with("prompt", "none").url).code.exposed.isEmpty == false)
        var thief = again.browser()
        thief.cookies = old
        #expect(try await thief.open(attempt.with("prompt", "none").url).redirectedError.code == .loginRequired)
        #expect(await again.redeem(try stayed.form(successor)).status == .ok)
    }
}
