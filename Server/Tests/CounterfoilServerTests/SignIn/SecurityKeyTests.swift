import CounterfoilConsole
@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilTokens
import Crypto
import Foundation
import HTTPTypes
import Testing

/// Security keys as a second factor, which do not verify their user (WebAuthn §7.2 step 17).
struct SecurityKeyTests {
    /// A server whose user alice has a second factor with a security key, and bob one with another.
    fileprivate struct Scene {
        let store = TestStore()
        let test: TestServer
        var key = TestPasskey.securityKey()
        var bobs = TestPasskey.securityKey()
        var passkey = TestPasskey()
        let app: TestAuthenticator

        init() async throws {
            test = try await TestServer(store: store)
            _ = try await test.addUser("bob")
            var (alice, bob) = (test.browser(source: "198.51.100.1"), test.browser(source: "198.51.100.2"))
            try await alice.signInToConsole(username: "alice")
            (app, _) = try await test.setUpSecondFactor(in: &alice)
            try await alice.add(&key, provingBy: test.code(of: app))
            try await alice.add(&passkey)
            test.clock.advance(by: 30)
            try await bob.signInToConsole(username: "bob")
            let bobsApp = try await test.setUpSecondFactor(in: &bob).app
            try await bob.add(&bobs, provingBy: test.code(of: bobsApp))
            test.clock.advance(by: 30)
            #expect(try await store.securityKeys(of: test.alice.id).count == 1)
            _ = try await store.signOutEverywhere(test.alice.id, except: nil, at: test.clock.now, recording: [])
        }

        /// Enters the password, and returns the page that follows.
        func enterPassword(in browser: inout ScriptedUserAgent, _ attempt: Attempt? = nil) async throws -> Reply {
            let page = try await browser.open((attempt ?? Attempt(test).with("prompt", "login")).url)
            return try await browser.signIn(on: page, username: "alice", password: TestServer.password)
        }

        func lastSignIn() async throws -> AuditEvent {
            try #require(try await store.audit(AuditQuery(kind: .signIn, limit: 1)).first?.event)
        }

        func sessions() async throws -> [Session] { try await store.sessions(of: test.alice.id) }
    }

    @Test func `after the password, a security key signs in as a code does, and tokens say so`() async throws {
        let scene = try await Scene()
        var browser = scene.test.browser()
        let attempt = Attempt(scene.test, for: "openid").with("prompt", "login")
        let page = try await scene.enterPassword(in: &browser, attempt)
        let options = try #require(try page.codePage.keyOptions)
        #expect(options.contains(#""userVerification":"discouraged""#))
        for id in [scene.key.credentialID, scene.passkey.credentialID] {
            #expect(options.contains(Base64URL.encode(id)))
        }
        #expect(try page.html().contains("Use a passkey or security key"))
        let consent = try await browser.use(scene.key, on: page)
        #expect(try await scene.sessions().map(\.methods) == [[.password, .securityKey]])
        #expect(try await scene.lastSignIn().detail == "second factor: security key")
        let code = try await browser.decide(.allow, on: consent).code
        let tokens = try await scene.test.redeem(attempt.exchange(code)).tokenResponse
        let access = try await IssuedTokens(scene.test).verified(tokens.accessToken)
        #expect(access.authenticationContext == "urn:counterfoil:acr:two-factor")
        #expect(access.authenticationMethods == ["pwd", "pop", "mfa"])
        #expect(try await scene.store.securityKeys(of: scene.test.alice.id).first?.lastUse?.source == "192.0.2.1")
    }

    @Test func `a passkey of the user is accepted on the page, too`() async throws {
        var scene = try await Scene()
        scene.passkey.flags = 0x19
        var browser = scene.test.browser()
        _ = try await browser.use(scene.passkey, on: try await scene.enterPassword(in: &browser)).consentPage
        // It has not verified the user here.
        #expect(try await scene.sessions().map(\.methods.context) == [.twoFactor])
        #expect(try await scene.lastSignIn().detail == "second factor: passkey")
    }

    @Test(arguments: [(0, "Use your security key"), (1, "Use your passkey")])
    func `the page names the kind that the user has`(removed: Int, label: String) async throws {
        let scene = try await Scene()
        try await scene.store.database.engine.commit(ending: .any) { database in
            try database.send("DELETE FROM passkeys WHERE is_security_key = ?", Int64(removed))
        }
        var browser = scene.test.browser()
        let page = try await scene.enterPassword(in: &browser)
        #expect(try page.codePage.keyLabel == label)
        #expect(try page.html().contains(label))
    }

    /// An answer that proves no second factor of alice.
    enum Fault: CaseIterable {
        case otherUser, otherKey, otherOrigin, originThatEndsLikeOurs, absentUser, unknownKey, otherPage, malformed

        fileprivate func answer(_ scene: Scene, _ page: CodePage, _ earlier: CodePage) throws -> String {
            var key = scene.key
            switch self {
            case .otherUser: key = scene.bobs
            case .otherKey: key.signer = P256.Signing.PrivateKey()
            case .otherOrigin: key.origin = "https://photos.example.com"
            case .originThatEndsLikeOurs: key.origin = "https://evil-id.example.com"
            case .absentUser: key.flags = 0
            case .unknownKey: key.credentialID = [UInt8](repeating: 7, count: 32)
            case .otherPage: return try key.assertion(for: earlier.keyOptions ?? "")
            case .malformed: return String(try key.assertion(for: page.keyOptions ?? "").dropLast(3))
            }
            return try key.assertion(for: page.keyOptions ?? "")
        }
    }

    @Test(arguments: Fault.allCases)
    func `an answer that breaks a rule proves no second factor`(fault: Fault) async throws {
        let scene = try await Scene()
        var browser = scene.test.browser()
        let earlier = try await scene.enterPassword(in: &browser).codePage
        let page = try await scene.enterPassword(in: &browser).codePage
        var form = page.form("")
        form.append("passkey", try fault.answer(scene, page, earlier))
        let reply = try await browser.submit(form, to: page.action)
        #expect(reply.status == .badRequest)
        #expect(try reply.codePage.problem?.hasPrefix("This passkey or security key doesn't confirm") == true)
        #expect(try await scene.sessions().isEmpty)
        let event = try await scene.lastSignIn()
        #expect(event.outcome != .done && event.reason == .secondFactor && event.userID == scene.test.alice.id)
    }

    @Test func `an answer counts once, and only in its browser and in ten minutes`() async throws {
        let scene = try await Scene()
        var browser = scene.test.browser()
        let page = try await scene.enterPassword(in: &browser)
        var other = scene.test.browser()
        _ = try await scene.enterPassword(in: &other)
        #expect(try await other.use(scene.key, on: page).page is ConsentPage == false)
        _ = try await browser.use(scene.key, on: page).consentPage
        #expect(try await scene.sessions().count == 1)
        let again = try await browser.use(scene.key, on: page)
        #expect(again.status == .badRequest)
        #expect(try await scene.lastSignIn().explanation == "the challenge was answered before")
        let late = try await scene.enterPassword(in: &other)
        scene.test.clock.advance(by: 10 * 60)
        #expect(try await other.use(scene.key, on: late).page is ConsentPage == false)
        #expect(try await scene.sessions().count == 1)
    }

    // Not even with a PIN: the user chose it as half of a sign-in.
    @Test(arguments: [UInt8(0x01), 0x05])
    func `a security key alone signs no user in, and the browser is not told to forget it`(flags: UInt8) async throws {
        var scene = try await Scene()
        (scene.key.flags, scene.key.namesUser) = (flags, true)
        var browser = scene.test.browser()
        let reply = try await browser.signIn(on: try await browser.open(Attempt(scene.test).url), with: scene.key)
        #expect(try reply.status == .badRequest && reply.signInPage.isPasskeyWrong)
        #expect(try reply.signInPage.passkeys?.unknown == nil)
        #expect(try await scene.sessions().isEmpty)
        #expect(try await scene.lastSignIn().explanation?.contains("without the password") == true)
    }

    @Test func `wrong answers of a key count as wrong codes do`() async throws {
        let scene = try await Scene()
        var browser = scene.test.browser()
        var page = try await scene.enterPassword(in: &browser)
        for _ in 0..<5 { page = try await browser.use(scene.bobs, on: page) }
        let blocked = try await browser.use(scene.key, on: page)
        #expect(blocked.status == .tooManyRequests)
        #expect(try await scene.sessions().isEmpty)
        scene.test.clock.advance(by: 15 * 60)
        _ = try await browser.use(scene.key, on: try await scene.enterPassword(in: &browser)).consentPage
    }

    @Test func `a security key that is removed during the sign-in begins no session`() async throws {
        let scene = try await Scene()
        var browser = scene.test.browser()
        let page = try await scene.enterPassword(in: &browser)
        let (store, alice) = (scene.store, scene.test.alice.id)
        store.before(.beginSession) { _ = try? await store.resetSecondFactor(of: alice, recording: []) }
        #expect(try await browser.use(scene.key, on: page).status == .badRequest)
        #expect(try await scene.sessions().isEmpty)
    }

    @Test func `a browser is remembered after a security key, and a signed-in user confirms with it`() async throws {
        let scene = try await Scene()
        var browser = scene.test.browser()
        let page = try await scene.enterPassword(in: &browser)
        _ = try await browser.use(scene.key, on: page, remembering: true).consentPage
        let remembered = try await scene.enterPassword(in: &browser)
        #expect(remembered.page is ConsentPage)
        let context = "urn:counterfoil:acr:two-factor"
        let asked = try await browser.open(Attempt(scene.test, for: "openid").with("acr_values", context).url)
        #expect(try asked.codePage.isConfirming)
        _ = try await browser.use(scene.key, on: asked).consentPage
        #expect(try await scene.sessions().first?.methods.context == .twoFactor)
    }
}
