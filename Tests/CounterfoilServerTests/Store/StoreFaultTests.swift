import CounterfoilProtocol
import CounterfoilServer
import CounterfoilTesting
import HTTPTypes
import Testing

/// A store that cannot answer: 503 with Retry-After, nothing half written, and everything as before when it is back.
struct StoreFaultTests {
    private static func expectUnavailable(_ reply: Reply) throws {
        #expect(reply.status == .serviceUnavailable)
        #expect(reply.fields[.retryAfter] == "5")
        #expect(reply.fields[.cacheControl] == "no-store")
        #expect(reply.cookies.isEmpty)
        #expect(reply.location == nil)
        switch reply.content {
        case .json: #expect(try reply.tokenError.error == "temporarily_unavailable")
        default: #expect(try reply.problemPage.explanation.contains("Nothing was changed"))
        }
    }

    @Test func `an authorization request is answered when the store is back`() async throws {
        let store = FaultyStore()
        let test = try await TestServer(store: store)
        var browser = test.browser()
        store.fail(.client)
        try Self.expectUnavailable(try await browser.open(Attempt(test).url))
        store.recover()
        #expect(try await browser.open(Attempt(test).url).signInPage.problem == nil)
    }

    @Test(arguments: [FaultyStore.Verb.client, .person, .beginSession])
    func `a sign-in that cannot be stored makes no session and counts no failure`(verb: FaultyStore.Verb) async throws {
        let store = FaultyStore()
        let test = try await TestServer(store: store)
        var browser = test.browser()
        let page = try await browser.open(Attempt(test).url)
        store.fail(verb)
        for _ in 0..<20 {
            try Self.expectUnavailable(
                try await browser.signIn(on: page, username: "alice", password: TestServer.password))
        }
        store.recover()
        let reply = try await browser.signIn(on: page, username: "alice", password: TestServer.password)
        #expect(try reply.consentPage.personName.description == "Alice")
    }

    @Test(arguments: [FaultyStore.Verb.session, .scopes, .touchSession])
    func `a page that cannot be made comes when the store is back`(verb: FaultyStore.Verb) async throws {
        let store = FaultyStore()
        let test = try await TestServer(store: store)
        var browser = test.browser()
        _ = try await Attempt(test).authorize(with: &browser)
        test.clock.advance(by: 120)
        store.fail(verb)
        try Self.expectUnavailable(try await browser.open(Attempt(test).url))
        store.recover()
        #expect(try await browser.open(Attempt(test).url).consentPage.personName.description == "Alice")
    }

    // A full disk in the middle of a consent: no grant without its code, and the same page can be answered later.
    @Test(arguments: [FaultyStore.Verb.client, .session, .recordConsent])
    func `an approval that cannot be stored leaves nothing behind`(verb: FaultyStore.Verb) async throws {
        let store = FaultyStore()
        let test = try await TestServer(store: store)
        let attempt = Attempt(test)
        var browser = test.browser()
        let first = try await browser.open(attempt.url)
        let consent = try await browser.signIn(on: first, username: "alice", password: TestServer.password)
        store.fail(verb)
        try Self.expectUnavailable(try await browser.decide(.allow, on: consent))
        store.recover()
        let code = try await browser.decide(.allow, on: consent).code
        #expect(await test.redeem(attempt.exchange(code)).status == .ok)
    }

    @Test(arguments: [FaultyStore.Verb.client, .code, .consumeCode])
    func `a code that cannot be redeemed now can be redeemed later`(verb: FaultyStore.Verb) async throws {
        let store = FaultyStore()
        let test = try await TestServer(store: store)
        let attempt = Attempt(test)
        let form = attempt.exchange(try await attempt.authorize().code)
        store.fail(verb)
        try Self.expectUnavailable(await test.redeem(form))
        store.recover()
        let tokens = try await test.redeem(form).tokenResponse
        #expect(try await IssuedTokens(test).grant(of: tokens.accessToken).revokedAt == nil)
    }

    // What must be stored before it is told is not told before it is stored.
    @Test func `a wrong verifier that cannot be counted is not judged`() async throws {
        let store = FaultyStore()
        let test = try await TestServer(store: store)
        let attempt = Attempt(test)
        let form = attempt.exchange(try await attempt.authorize().code)
        store.fail(.countFailedRedemption)
        try Self.expectUnavailable(await test.redeem(form.setting("code_verifier", to: CodeVerifier().exposed)))
        store.recover()
        #expect(await test.redeem(form).status == .ok)
    }

    // A replay whose revocation cannot be stored is one again at the next try.
    @Test func `a replay revokes when the store is back`() async throws {
        let store = FaultyStore()
        let test = try await TestServer(store: store)
        let attempt = Attempt(test)
        let form = attempt.exchange(try await attempt.authorize().code)
        let tokens = try await test.redeem(form).tokenResponse
        store.fail(.revokeGrant)
        try Self.expectUnavailable(await test.redeem(form))
        store.recover()
        #expect(try await test.redeem(form).tokenError.error == "invalid_grant")
        #expect(try await IssuedTokens(test).grant(of: tokens.accessToken).revokedAt != nil)
    }

    // The process lives although its store does not answer; it only cannot serve.
    @Test func `readiness says that the store does not answer`() async throws {
        let store = FaultyStore()
        let test = try await TestServer(store: store)
        store.fail(.scopes)
        try Self.expectUnavailable(await test.send(.get, to: .readiness))
        #expect(await test.send(.get, to: .liveness).status == .ok)
        #expect(await test.send(.get, to: .keySet).status == .ok)
        store.recover()
        #expect(await test.send(.get, to: .readiness).status == .ok)
    }

    // A fault is the operator's to mend: the log has it as an error, the answer does not.
    @Test func `the reason of a fault stands in the log alone`() async throws {
        let store = FaultyStore()
        let test = try await TestServer(store: store)
        store.fail(.client, with: .unavailable("disk /var/lib/x is full"))
        let reply = await test.redeem(Attempt(test).exchange(AuthorizationCode()))
        #expect(!String(decoding: try reply.json, as: UTF8.self).contains("disk"))
        #expect(test.log.lines.contains { $0.hasPrefix("error") && $0.contains("disk /var/lib/x is full") })
    }

    @Test func `a damaged store is a server error`() async throws {
        let store = FaultyStore()
        let test = try await TestServer(store: store)
        store.fail(.client, with: .damaged("page 7 is not a page"))
        let reply = await test.redeem(Attempt(test).exchange(AuthorizationCode()))
        #expect(reply.status == .internalServerError)
        #expect(try reply.tokenError.error == "server_error")
        #expect(!String(decoding: try reply.json, as: UTF8.self).contains("page 7"))
    }
}
