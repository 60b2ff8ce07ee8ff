import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilTokens
import Crypto
import Foundation
import HTTPTypes
import Testing

/// The sign-in with a passkey (WebAuthn §7.2).
struct PasskeySignInTests {
    /// A server whose user alice has a passkey.
    private struct Scene {
        let test: TestServer
        var passkey = TestPasskey()

        init(configure: (inout ServerSettings) -> Void = { _ in }) async throws {
            test = try await TestServer(configure: configure)
            var browser = test.browser()
            try await browser.signInToConsole(username: "alice")
            try await browser.add(&passkey)
            #expect(try await test.store.passkeys(of: test.alice.id).count == 1)
        }

        /// The last event of a sign-in in the audit log.
        func lastSignIn() async throws -> AuditEvent {
            let events = try await test.store.audit(AuditQuery(kind: .signIn, limit: 1))
            return try #require(events.first?.event)
        }
    }

    @Test func `a passkey signs a user in without a name and a password`() async throws {
        let scene = try await Scene()
        var browser = scene.test.browser()
        let page = try await browser.open(Attempt(scene.test).url)
        #expect(try page.signInPage.username.isEmpty)
        let consent = try await browser.signIn(on: page, with: scene.passkey)
        #expect(try consent.consentPage.userDisplayName == "Alice")
        let event = try await scene.lastSignIn()
        #expect(event.userID == scene.test.alice.id && event.outcome == .done && event.detail == "passkey")
        let use = try #require(try await scene.test.store.passkeys(of: scene.test.alice.id).first?.lastUse)
        #expect(use.time == scene.test.clock.now && use.source == "192.0.2.1")
    }

    @Test func `the passkey also signs in to the console, and the choice to stay signed in counts`() async throws {
        let scene = try await Scene()
        var browser = scene.test.browser()
        let page = try await browser.open("/sign-in").signInPage
        var form = FormParameters(["request": page.request, "ticket": page.ticket, "stay_signed_in": "true"])
        form.append("passkey", try scene.passkey.assertion(for: try #require(page.passkeys).options))
        let reply = try await browser.send(.post, to: page.action, form: form)
        #expect(reply.status == .seeOther)
        #expect(reply.cookies.contains { $0.contains("-session=") && $0.contains("Max-Age=") })
        #expect(try await browser.open("/account").accountPage.user.username == "alice")
    }

    @Test func `tokens state how the user signed in`() async throws {
        let scene = try await Scene()
        for (signsIn, context, methods) in [
            (true, "urn:counterfoil:acr:passkey", ["pop", "user", "mfa"]),
            (false, "urn:counterfoil:acr:password", ["pwd"]),
        ] {
            var browser = scene.test.browser()
            let attempt = Attempt(scene.test, for: "openid photos.read")
            let page = try await browser.open(attempt.url)
            let consent =
                signsIn
                ? try await browser.signIn(on: page, with: scene.passkey)
                : try await browser.signIn(on: page, username: "alice", password: TestServer.password)
            let code = try await browser.decide(.allow, on: consent).code
            let tokens = try await scene.test.redeem(attempt.exchange(code)).tokenResponse
            let access = try await IssuedTokens(scene.test).verified(tokens.accessToken)
            #expect(access.authenticationContext == context && access.authenticationMethods == methods)
            let claims = try IssuedTokens.parts(of: try #require(tokens.idToken).exposed).claims
            #expect(claims["acr"] as? String == context && claims["amr"] as? [String] == methods)
        }
    }

    /// A rule of the verification that an answer breaks, and the words of the audit log about it.
    struct Fault: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let words: String
        let change: @Sendable (inout TestPasskey) -> Void

        init(_ name: String, _ words: String, _ change: @escaping @Sendable (inout TestPasskey) -> Void) {
            (testDescription, self.words, self.change) = (name, words, change)
        }

        static let all = [
            Fault("another origin", "origin") { $0.origin = "https://id.example.com.evil.example" },
            Fault("an origin that ends like ours", "origin") { $0.origin = "https://evil-id.example.com" },
            Fault("another port", "origin") { $0.origin = "https://id.example.com:8443" },
            Fault("another key", "signature") { $0.signer = P256.Signing.PrivateKey() },
            Fault("no verification of the user", "verif") { $0.flags = 0x19 },
            Fault("no presence of the user", "presen") { $0.flags = 0x1C },
            Fault("another eligibility for backup", "flag BE") { $0.flags = 0x05 },
        ]
    }

    @Test(arguments: Fault.all)
    func `an answer that breaks a rule signs no user in`(fault: Fault) async throws {
        var scene = try await Scene()
        fault.change(&scene.passkey)
        var browser = scene.test.browser()
        let page = try await browser.open(Attempt(scene.test).url)
        let reply = try await browser.signIn(on: page, with: scene.passkey)
        #expect(reply.status == .badRequest)
        let shown = try reply.signInPage
        #expect(shown.isPasskeyWrong && shown.passkeys?.unknown == nil)
        #expect(try reply.html().contains("Use another one, or your password."))
        let event = try await scene.lastSignIn()
        #expect(event.reason == .passkey && event.userID == scene.test.alice.id)
        #expect(event.explanation?.contains(fault.words) == true, "\(event.explanation ?? "")")
        #expect(browser.cookies["__Host-counterfoil-session"] == nil)
    }

    @Test func `an answer counts for the page that asked, and once`() async throws {
        let scene = try await Scene()
        var browser = scene.test.browser()
        let first = try await browser.open(Attempt(scene.test).url)
        let second = try await browser.open(Attempt(scene.test).url)
        let options = try #require(try first.signInPage.passkeys).options
        // The answer to the first page, in the form of the second.
        let mixed = try await browser.signIn(on: second, with: scene.passkey, answering: options)
        #expect(mixed.status == .badRequest)
        // Both tabs work; each once.
        _ = try await browser.signIn(on: first, with: scene.passkey).consentPage
        _ = try await browser.signIn(on: second, with: scene.passkey).consentPage
        for _ in 0..<3 {
            scene.test.clock.advance(by: 9 * 60)
            let now = scene.test.clock.now
            let limits = ExpirationLimits(
                now: now, codesBefore: now, sessionsIdleBefore: .distantPast, refreshIdleBefore: .distantPast,
                grantsBefore: .distantPast)
            _ = try await scene.test.store.deleteExpired(limits, atMost: 1000)
            let repeated = try await browser.signIn(on: first, with: scene.passkey)
            #expect(repeated.status == .badRequest)
            #expect(try await scene.lastSignIn().explanation == "the challenge was answered before")
        }
    }

    @Test func `the form of another browser is refused, and one that is too old`() async throws {
        let scene = try await Scene()
        var browser = scene.test.browser()
        let page = try await browser.open(Attempt(scene.test).url)
        var other = scene.test.browser()
        _ = try await other.open(Attempt(scene.test).url)
        #expect(try await other.signIn(on: page, with: scene.passkey).page is SignInPage == false)
        scene.test.clock.advance(by: 24 * 3600)
        #expect(try await browser.signIn(on: page, with: scene.passkey).page is SignInPage == false)
        #expect(try await scene.test.store.passkeys(of: scene.test.alice.id).first?.lastUse == nil)
    }

    @Test func `a deleted passkey signs no user in, and the browser is told to forget it`() async throws {
        let scene = try await Scene()
        let (store, user) = (scene.test.store, scene.test.alice.id)
        let passkey = try #require(try await store.passkeys(of: user).first)
        #expect(try await store.removePasskey(passkey.digest, of: user, recording: []) == .removed)
        var browser = scene.test.browser()
        let reply = try await browser.signIn(on: try await browser.open(Attempt(scene.test).url), with: scene.passkey)
        #expect(reply.status == .badRequest)
        let id = Base64URL.encode(scene.passkey.credentialID)
        #expect(try reply.signInPage.passkeys?.unknown == id)
        #expect(try reply.html().contains(#"data-rp-id="id.example.com" data-unknown="\#(id)""#))
        let event = try await scene.lastSignIn()
        #expect(event.reason == .passkey && event.userID == nil && event.explanation == "no user has this passkey")
    }

    // The store decides when the session begins.
    @Test func `a passkey that is deleted during the sign-in begins no session`() async throws {
        let store = TestStore()
        let test = try await TestServer(store: store)
        var browser = test.browser()
        try await browser.signInToConsole(username: "alice")
        var passkey = TestPasskey()
        try await browser.add(&passkey)
        let digest = ArtefactDigest(ofCredentialID: passkey.credentialID)
        let alice = test.alice.id
        store.before(.beginSession) { _ = try? await store.removePasskey(digest, of: alice, recording: []) }
        var other = test.browser()
        let reply = try await other.signIn(on: try await other.open(Attempt(test).url), with: passkey)
        #expect(try reply.signInPage.isPasskeyWrong)
        #expect(try await store.sessions(of: alice).count == 1)
    }

    @Test func `a disabled user is refused`() async throws {
        let scene = try await Scene()
        _ = try await scene.test.store.disableUser(scene.test.alice.id, at: scene.test.clock.now, recording: [])
        var browser = scene.test.browser()
        let reply = try await browser.signIn(on: try await browser.open(Attempt(scene.test).url), with: scene.passkey)
        #expect(try reply.signInPage.isPasskeyWrong)
        #expect(try await scene.lastSignIn().reason == .disabled)
    }

    // WebAuthn §7.2 step 22
    @Test func `a counter that goes back is recorded, and does not refuse the user`() async throws {
        var scene = try await Scene()
        for (counter, detail) in [
            (UInt32(7), "passkey"), (5, "passkey, its signature counter went from 7 to 5"), (6, "passkey"),
        ] {
            scene.passkey.counter = counter
            var browser = scene.test.browser()
            let page = try await browser.open(Attempt(scene.test).url)
            _ = try await browser.signIn(on: page, with: scene.passkey).consentPage
            #expect(try await scene.lastSignIn().detail == detail)
            let stored = try await scene.test.store.passkeys(of: scene.test.alice.id).first
            #expect(stored?.signatureCounter == counter)
        }
    }

    @Test(arguments: ["{", "null", "[]", #"{"id":1}"#, #"{"id":"AA","rawId":"AA","type":"public-key"}"#])
    func `an answer that is none is refused`(answer: String) async throws {
        let scene = try await Scene()
        var browser = scene.test.browser()
        let page = try await browser.open("/sign-in").signInPage
        let form = FormParameters(["request": page.request, "ticket": page.ticket, "passkey": answer])
        let reply = try await browser.submit(form, to: page.action)
        #expect(reply.status == .badRequest)
        #expect(try reply.signInPage.isPasskeyWrong)
    }

    @Test func `sign-ins with a passkey count as those with a password`() async throws {
        let scene = try await Scene()
        var browser = scene.test.browser()
        // The password sign-in of the scene is the first of 60.
        for _ in 0..<59 {
            let page = try await browser.open(Attempt(scene.test).with("prompt", "login").url)
            _ = try await browser.signIn(on: page, with: scene.passkey).consentPage
        }
        let page = try await browser.open(Attempt(scene.test).with("prompt", "login").url)
        let refused = try await browser.signIn(on: page, with: scene.passkey)
        #expect(refused.status == .tooManyRequests)
        scene.test.clock.advance(by: 61)
        let again = try await browser.open(Attempt(scene.test).with("prompt", "login").url)
        _ = try await browser.signIn(on: again, with: scene.passkey).consentPage
    }

    // WebAuthn §5.1.2: a passkey belongs to a domain, and to a secure context.
    @Test(arguments: [
        ("https://id.example.com", "id.example.com"), ("https://id.example.com:8443/tenant", "id.example.com"),
        ("http://localhost:8080", "localhost"), ("http://127.0.0.1:8080", nil), ("https://192.0.2.7", nil),
        ("https://[2001:db8::1]", nil),
    ])
    func `passkeys are offered where the server has a domain`(issuer: String, domain: String?) async throws {
        let test = try await TestServer(issuer: issuer)
        var browser = test.browser()
        let reply = try await browser.open(test.issuer.endpoint("/sign-in"))
        #expect(try reply.signInPage.passkeys?.domain == domain)
        #expect(try reply.html().contains("webauthn") == (domain != nil))
        #expect(try reply.html().contains("<script") == (domain != nil))
        let endpoints = try await browser.send(.get, to: test.issuer.origin + "/.well-known/passkey-endpoints")
        #expect(endpoints.status == (domain == nil ? .notFound : .ok))
        if domain != nil {
            let page = test.issuer.endpoint("/account/passkeys")
            #expect(try endpoints.members as? [String: String] == ["enroll": page, "manage": page])
        }
    }
}
