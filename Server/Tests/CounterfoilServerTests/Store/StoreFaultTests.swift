import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import HTTPTypes
import Testing

/// An unavailable store: 503 with Retry-After, no partial commit, and normal operation when it is back.
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

    @Test func `an authorization request succeeds when the store is back`() async throws {
        let store = TestStore()
        let test = try await TestServer(store: store)
        var browser = test.browser()
        store.fail(.client)
        try Self.expectUnavailable(try await browser.open(Attempt(test).url))
        store.recover()
        #expect(try await browser.open(Attempt(test).url).signInPage.problem == nil)
    }

    @Test(arguments: [StoreOperation.client, .user, .beginSession])
    func `a sign-in that cannot be stored creates no session and no failure`(operation: StoreOperation) async throws {
        let store = TestStore()
        let test = try await TestServer(store: store)
        var browser = test.browser()
        let page = try await browser.open(Attempt(test).url)
        store.fail(operation)
        for _ in 0..<20 {
            try Self.expectUnavailable(
                try await browser.signIn(on: page, username: "alice", password: TestServer.password))
        }
        store.recover()
        let reply = try await browser.signIn(on: page, username: "alice", password: TestServer.password)
        #expect(try reply.consentPage.userDisplayName.description == "Alice")
    }

    @Test(arguments: [StoreOperation.session, .scopes, .touchSession])
    func `a page that cannot be rendered is available when the store is back`(operation: StoreOperation) async throws {
        let store = TestStore()
        let test = try await TestServer(store: store)
        var browser = test.browser()
        _ = try await Attempt(test).authorize(with: &browser)
        test.clock.advance(by: 120)
        store.fail(operation)
        try Self.expectUnavailable(try await browser.open(Attempt(test).url))
        store.recover()
        #expect(try await browser.open(Attempt(test).url).consentPage.userDisplayName.description == "Alice")
    }

    // A full disk during a consent: no grant without its code, and the same page can be submitted later.
    @Test(arguments: [StoreOperation.client, .session, .recordConsent])
    func `an approval that cannot be stored leaves no records`(operation: StoreOperation) async throws {
        let store = TestStore()
        let test = try await TestServer(store: store)
        let attempt = Attempt(test)
        var browser = test.browser()
        let first = try await browser.open(attempt.url)
        let consent = try await browser.signIn(on: first, username: "alice", password: TestServer.password)
        store.fail(operation)
        try Self.expectUnavailable(try await browser.decide(.allow, on: consent))
        store.recover()
        let code = try await browser.decide(.allow, on: consent).code
        #expect(await test.redeem(attempt.exchange(code)).status == .ok)
    }

    @Test(arguments: [StoreOperation.client, .code, .consumeCode])
    func `a code that cannot be redeemed now can be redeemed later`(operation: StoreOperation) async throws {
        let store = TestStore()
        let test = try await TestServer(store: store)
        let attempt = Attempt(test)
        let form = attempt.exchange(try await attempt.authorize().code)
        store.fail(operation)
        try Self.expectUnavailable(await test.redeem(form))
        store.recover()
        let tokens = try await test.redeem(form).tokenResponse
        #expect(try await IssuedTokens(test).grant(of: tokens.accessToken).revokedAt == nil)
    }

    // An outcome that must be stored is not sent before it is stored.
    @Test func `a wrong verifier that cannot be counted is not judged`() async throws {
        let store = TestStore()
        let test = try await TestServer(store: store)
        let attempt = Attempt(test)
        let form = attempt.exchange(try await attempt.authorize().code)
        store.fail(.countFailedRedemption)
        try Self.expectUnavailable(await test.redeem(form.setting("code_verifier", to: CodeVerifier().exposed)))
        store.recover()
        #expect(await test.redeem(form).status == .ok)
    }

    // A replay whose revocation cannot be stored is a replay again at the next attempt.
    @Test func `a replay revokes the tokens when the store is back`() async throws {
        let store = TestStore()
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

    private static func answer(_ endpoint: Endpoint, of test: TestServer) async throws -> String {
        let reply = await test.send(.get, to: endpoint)
        #expect(reply.fields[.retryAfter] == (reply.status == .ok ? nil : "5"))
        return "\(reply.status.code) " + String(decoding: try reply.json, as: UTF8.self)
    }

    // A load balancer must not send sign-ins to a server that cannot serve them.
    @Test func `an unavailable store ends readiness, and the process stays ready with its metadata and keys`()
        async throws
    {
        let store = TestStore()
        let test = try await TestServer(store: store)
        let (metadata, keys) = (await test.send(.get, to: .metadata), await test.send(.get, to: .keySet))
        #expect(try await Self.answer(.readiness, of: test) == #"200 {"status":"ready","store":"available"}"#)
        store.fail(.registryRevision)
        #expect(try await Self.answer(.readiness, of: test) == #"503 {"status":"degraded","store":"unavailable"}"#)
        store.fail(.registryRevision, with: .damaged("page 7 is not a page"))
        #expect(try await Self.answer(.readiness, of: test) == #"503 {"status":"degraded","store":"damaged"}"#)
        #expect(try await Self.answer(.processReadiness, of: test) == #"200 {"status":"ready"}"#)
        #expect(try await Self.answer(.liveness, of: test) == #"200 {"status":"alive"}"#)
        #expect(try await test.send(.get, to: .metadata).json == metadata.json)
        #expect(try await test.send(.get, to: .keySet).json == keys.json)
        store.recover()
        #expect(try await Self.answer(.readiness, of: test) == #"200 {"status":"ready","store":"available"}"#)
    }

    @Test func `a store that refuses commits ends readiness until it takes them again`() async throws {
        let store = TestStore()
        let test = try await TestServer(store: store)
        try await test.server.heartbeat.beat()
        #expect(try await Self.answer(.readiness, of: test) == #"200 {"status":"ready","store":"available"}"#)
        store.fail(.recordService, with: .unavailable("database or disk is full"))
        await #expect(throws: StoreFault.self) { try await test.server.heartbeat.beat() }
        #expect(try await Self.answer(.readiness, of: test) == #"503 {"status":"degraded","store":"read-only"}"#)
        #expect(try await Self.answer(.processReadiness, of: test) == #"200 {"status":"ready"}"#)
        store.recover()
        try await test.server.heartbeat.beat()
        #expect(try await Self.answer(.readiness, of: test) == #"200 {"status":"ready","store":"available"}"#)
    }

    // A small commit can succeed on a full disk, so the heartbeat after a failed request takes up space.
    @Test func `a request that meets a full disk ends readiness, although small commits succeed`() async throws {
        let store = TestStore()
        let test = try await TestServer(store: store)
        var browser = test.browser()
        let page = try await browser.open(Attempt(test).url)
        try await test.server.heartbeat.beat()
        store.fail(.beginSession, .takeUpSpace, with: .unavailable("database or disk is full"))
        try await test.server.heartbeat.beat()
        #expect(try await Self.answer(.readiness, of: test) == #"200 {"status":"ready","store":"available"}"#)
        try Self.expectUnavailable(
            try await browser.signIn(on: page, username: "alice", password: TestServer.password))
        for _ in 1...3 {
            await #expect(throws: StoreFault.self) { try await test.server.heartbeat.beat() }
            #expect(try await Self.answer(.readiness, of: test) == #"503 {"status":"degraded","store":"read-only"}"#)
        }
        store.recover()
        try await test.server.heartbeat.beat()
        #expect(try await Self.answer(.readiness, of: test) == #"200 {"status":"ready","store":"available"}"#)
    }

    @Test func `one request that meets a fault does not end readiness`() async throws {
        let store = TestStore()
        let test = try await TestServer(store: store)
        var browser = test.browser()
        let page = try await browser.open(Attempt(test).url)
        store.fail(.beginSession)
        try Self.expectUnavailable(
            try await browser.signIn(on: page, username: "alice", password: TestServer.password))
        #expect(try await Self.answer(.readiness, of: test) == #"200 {"status":"ready","store":"available"}"#)
        try await test.server.heartbeat.beat()
        #expect(try await Self.answer(.readiness, of: test) == #"200 {"status":"ready","store":"available"}"#)
    }

    @Test func `a server that stops is not ready, and answers all requests`() async throws {
        let test = try await TestServer()
        test.server.beginStopping()
        let reply = await test.send(.get, to: .readiness)
        #expect(reply.status == .serviceUnavailable)
        #expect(reply.fields[.retryAfter] == "5")
        #expect(try reply.json == Array(#"{"status":"stopping","store":"available"}"#.utf8))
        #expect(try await Self.answer(.processReadiness, of: test) == #"503 {"status":"stopping"}"#)
        #expect(await test.send(.get, to: .liveness).status == .ok)
        let attempt = Attempt(test)
        #expect(await test.redeem(attempt.exchange(try await attempt.authorize().code)).status == .ok)
    }

    // The operator must fix a fault: the log reports it as an error, the response does not.
    @Test func `the cause of a fault is only in the log`() async throws {
        let store = TestStore()
        let test = try await TestServer(store: store)
        store.fail(.client, with: .unavailable("disk /var/lib/x is full"))
        let reply = await test.redeem(Attempt(test).exchange(AuthorizationCode()))
        #expect(!String(decoding: try reply.json, as: UTF8.self).contains("disk"))
        #expect(test.log.lines.contains { $0.hasPrefix("error") && $0.contains("disk /var/lib/x is full") })
    }

    @Test func `a damaged store is a server error`() async throws {
        let store = TestStore()
        let test = try await TestServer(store: store)
        store.fail(.client, with: .damaged("page 7 is not a page"))
        let reply = await test.redeem(Attempt(test).exchange(AuthorizationCode()))
        #expect(reply.status == .internalServerError)
        #expect(try reply.tokenError.error == "server_error")
        #expect(!String(decoding: try reply.json, as: UTF8.self).contains("page 7"))
    }

    // A server of the newer version can answer a retry, and requests cannot fill the log with errors.
    @Test func `a client with a value of a newer version is unavailable, without an error in the log`() async throws {
        let store = TestStore()
        let test = try await TestServer(store: store)
        let attempt = Attempt(test)
        store.fail(.client, with: .unsupported(UnsupportedValue(record: "client", column: "type", text: "agent")))
        let reply = await test.redeem(attempt.exchange(AuthorizationCode()))
        #expect(reply.status == .serviceUnavailable)
        #expect(try reply.tokenError.error == "temporarily_unavailable")
        #expect(try await attempt.firstReply().status == .serviceUnavailable)
        #expect(!test.log.lines.contains { $0.hasPrefix("error") })
    }

    @Test func `each value of a newer version is reported once`() {
        let log = RecordedLog()
        let reporter = UnsupportedValues(logger: log.logger)
        for _ in 1...3 {
            for word in ["agent", "robot"] {
                reporter.note(UnsupportedValue(record: "client", column: "type", text: word))
            }
        }
        #expect(log.lines.count == 2)
        #expect(log.lines.allSatisfy { $0.hasPrefix("warning") && $0.contains("newer version") })
        for number in 1...500 { reporter.note(UnsupportedValue(record: "client", column: "\(number)")) }
        #expect(log.lines.count == 100)
        #expect(UnsupportedValue(record: "client", column: "type", text: "two words\n").text == nil)
    }
}
