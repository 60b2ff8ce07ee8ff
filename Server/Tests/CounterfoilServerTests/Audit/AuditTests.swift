import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

@testable import CounterfoilServer

/// Audit events record the user, the event, the client, the source address and the outcome.
struct AuditTests {
    private let test: TestServer

    init() async throws { test = try await TestServer() }

    private func events(_ kind: AuditEvent.Kind) async throws -> [AuditEvent] {
        try await test.store.audit(AuditQuery(kind: kind)).map(\.event)
    }

    @Test func `signing in, consent and refusal are recorded`() async throws {
        _ = try await Attempt(test).authorize(decision: .deny)
        _ = try await Attempt(test).authorize()
        let signIns = try await events(.signIn)
        #expect(signIns.map(\.outcome) == [.done, .done])
        #expect(signIns.allSatisfy { $0.userID == test.alice.id && $0.clientID == test.lightbox.id })
        #expect(signIns.allSatisfy { $0.source == "192.0.2.1" && $0.requestID != nil })
        let consents = try await events(.consent)
        #expect(consents.map(\.outcome) == [.done, .refused])
        #expect(consents.first?.detail == "photos.read")
    }

    @Test func `an app that signs a user in within an existing session has a sign-in of its own`() async throws {
        var browser = test.browser()
        _ = try await Attempt(test).authorize(with: &browser)
        // The sign-in and the consent to the first app are one flow, with one sign-in.
        let began = try #require(try await events(.signIn).first)
        #expect(try await events(.signIn).count == 1 && began.grantID == nil)

        let web = try await test.register(
            "Album", type: .web, at: ["https://album.example/cb"],
            under: ClientPolicy(isVouchedFor: true, requiresState: false), secret: ClientSecret())
        func signIns() async throws -> [AuditEvent] {
            try await test.store.audit(AuditQuery(kind: .signIn, clientID: web.id, outcome: .done)).map(\.event)
        }
        let attempt = Attempt(test, by: web, at: "https://album.example/cb")
        // The user denies, so there is no sign-in.
        _ = try await attempt.authorize(with: &browser, decision: .deny)
        #expect(try await signIns().isEmpty)
        // The consent page in the existing session, then the remembered consent, then without a page.
        let again = [
            Attempt(test, by: web, at: "https://album.example/cb"),
            Attempt(test, by: web, at: "https://album.example/cb"),
            Attempt(test, by: web, at: "https://album.example/cb").with("prompt", "none"),
        ]
        for (number, attempt) in again.enumerated() {
            _ = try await attempt.authorize(with: &browser)
            let events = try await signIns()
            #expect(events.count == number + 1)
            let event = try #require(events.first)
            #expect(event.userID == test.alice.id && event.grantID != nil && event.detail == "existing session")
            #expect(event.source == "192.0.2.1" && event.requestID != nil)
        }
        #expect(try await events(.consent).filter { $0.outcome == .done && $0.clientID == web.id }.count == 1)
    }

    // One grapheme cluster can contain any number of scalars.
    @Test func `the detail of an event has at most 200 bytes`() {
        func detail(_ text: String) -> String? { AuditEvent(at: test.clock.now, .setting, detail: text).detail }
        #expect(detail("e" + String(repeating: "\u{301}", count: 5000))?.utf8.count == 199)
        #expect(detail(String(repeating: "a", count: 200))?.utf8.count == 200)
    }

    // The event names the account, and never the text that was typed.
    @Test func `a failed sign-in records the account and not the typed text`() async throws {
        for (name, user) in [("alice", test.alice.id), ("nobody-hunter2", nil)] {
            var browser = test.browser()
            let page = try await browser.open(Attempt(test).url)
            _ = try await browser.signIn(on: page, username: name, password: "not the password")
            let event = try #require(try await events(.signIn).first)
            #expect(event.outcome == .refused)
            #expect(event.userID == user)
        }
        let said = try await events(.signIn).map { "\($0)" }.joined()
        #expect(!said.contains("hunter2"))
        #expect(!said.contains("not the password"))
    }

    // On the page of an authorization request and on the console's.
    @Test func `a throttled sign-in is recorded`() async throws {
        var browser = test.browser()
        let page = try await browser.open(Attempt(test).url)
        let console = try await browser.open("/sign-in?to=/account")
        for _ in 0..<12 { _ = try await browser.signIn(on: page, username: "alice", password: "not the password") }
        #expect(try await browser.signIn(on: page, username: "alice", password: "x").status == .tooManyRequests)
        #expect(try await browser.signIn(on: console, username: "alice", password: "x").status == .tooManyRequests)
        let waits = try await events(.throttled)
        #expect(waits.count >= 2)
        #expect(waits.allSatisfy { $0.outcome == .refused && $0.reason == .throttledUser && $0.source == "192.0.2.1" })
        #expect(waits.allSatisfy { $0.userID == test.alice.id })
        #expect(waits.first?.clientID == nil)
        #expect(waits.last?.clientID == test.lightbox.id)
    }

    // The first keys, keys created by rotation, and deleted keys.
    @Test func `creation, activation and deletion of signing keys are recorded`() async throws {
        let store = TestStore()
        let key = try #require(ServerKey(bytes: [UInt8](repeating: 9, count: 32)))
        _ = try await KeyRing.open(store, serverKey: key)
        let made = try await store.audit(AuditQuery(kind: .signingKey)).map(\.event)
        #expect(made.count == KeyRing.algorithmsFromStart.count)
        let keys = try await store.signingKeys()
        for (event, key) in zip(made.reversed(), keys) {
            #expect(event.detail == "\(key.algorithm): created the first key, \(key.id)")
        }
        _ = try await KeyRing.open(store, serverKey: key)
        #expect(try await store.audit(AuditQuery(kind: .signingKey)).count == made.count)

        let day = 86_400.0
        test.clock.advance(by: 91 * day)
        try await test.server.maintenance.maintainKeys()
        test.clock.advance(by: 60 * day)
        try await test.server.maintenance.maintainKeys()
        let details = try await events(.signingKey).compactMap(\.detail)
        #expect(details.contains { $0.contains("rotated by age") })
        #expect(details.first == "deleted signing keys whose tokens have all expired: 3")
    }

    @Test func `a replayed code and a failed client authentication are recorded`() async throws {
        let attempt = Attempt(test)
        let code = try await attempt.authorize().code
        _ = try await test.redeem(attempt.exchange(code)).tokenResponse
        #expect(await test.redeem(attempt.exchange(code)).status == .badRequest)
        let replay = try #require(try await events(.codeRedemption).first)
        #expect(replay.outcome == .refused)
        #expect(replay.clientID == test.lightbox.id)
        #expect(replay.grantID != nil)
        #expect(try await events(.revocation).map(\.detail) == ["code-replay"])

        let secret = ClientSecret()
        let web = try await test.register(
            "Web", type: .web, at: ["https://app.example.com/callback"], under: .standard(for: .web), secret: secret)
        let form = FormParameters([
            "grant_type": "authorization_code", "client_id": web.id.rawValue, "client_secret": ClientSecret().exposed,
            "code": code.exposed,
        ])
        #expect(await test.redeem(form).status == .badRequest)
        let refused = try #require(try await events(.clientAuthentication).first)
        #expect(refused.clientID == web.id)
        #expect(refused.outcome == .refused)
    }

    // Each use of an exemption from S256 is recorded.
    @Test func `each code without S256 is recorded`() async throws {
        var policy = ClientPolicy.standard(for: .native)
        policy.pkce = .s256OrPlain
        policy.isVouchedFor = true
        let client = try await test.register("Old", under: policy)
        let attempt = Attempt(test, by: client)
        _ = try await attempt.with("code_challenge", attempt.verifier.exposed).with("code_challenge_method", "plain")
            .authorize()
        let event = try #require(try await events(.pkceException).first)
        #expect(event.clientID == client.id)
        #expect(event.userID == test.alice.id)
        #expect(event.source == "192.0.2.1")
        #expect(event.detail == "code_challenge_method plain, policy s256-or-plain")
        _ = try await Attempt(test).authorize()
        #expect(try await events(.pkceException).count == 1)
    }

    @Test func `actions at the console are recorded with their user`() async throws {
        var developer = try await Developer("dora", of: test)
        let name = try #require(Username("dora"))
        let dora = try #require(try await test.store.user(named: name)).id
        let client = try await developer.registered()
        #expect(try await events(.client).map(\.detail) == ["registered"])
        #expect(try await events(.client).map(\.userID) == [dora])
        #expect(try await events(.client).map(\.clientID) == [client.id])
        let page = try await developer.browser.open("/account").accountPage
        _ = try await developer.browser.submit(
            FormParameters(["ticket": page.console.signOutTicket]), to: page.console.paths.signOut)
        #expect(try await events(.signOut).map(\.userID) == [dora])
    }

    /// Returns the number of recorded refusals among this many.
    private func admitted(
        _ count: Int, by flood: AuditRateLimiter, _ kind: AuditEvent.Kind, from source: String,
        of grant: GrantIdentifier? = nil, user: UserIdentifier? = nil, at time: Date
    ) -> Int {
        (0..<count).count { _ in
            flood.admits(AuditEvent(at: time, kind, .refused, userID: user, grantID: grant, source: source))
        }
    }

    @Test func `events with older times count in the current minute, and a clock that was set back begins a new one`() {
        let flood = AuditRateLimiter()
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        // The second before `now` is in the former minute.
        let admitted = (0..<200).count { number in
            let time = number.isMultiple(of: 2) ? now : now - 1
            return flood.admits(AuditEvent(at: time, .signIn, .refused, source: "192.0.2.1"))
        }
        #expect(admitted == AuditRateLimiter.limitPerSource)
        #expect(flood.takeSummaries(at: now - 1).isEmpty)
        #expect(self.admitted(1, by: flood, .signIn, from: "192.0.2.1", at: now - 3600) == 1)
        #expect(flood.takeSummaries(at: now - 3600).map(\.kind) == [.signIn])
    }

    @Test func `refusals without a user do not suppress those of known users, which have limits of their own`() {
        let flood = AuditRateLimiter()
        let now = test.clock.now
        for source in 0..<20 { _ = admitted(100, by: flood, .signIn, from: "198.51.100.\(source)", at: now) }
        #expect(admitted(1, by: flood, .signIn, from: "192.0.2.1", at: now) == 0)
        let limit = AuditRateLimiter.limitPerUser
        #expect(admitted(10, by: flood, .signIn, from: "198.51.100.1", user: test.alice.id, at: now) == limit)
        let users = (0..<100).map { _ in UserIdentifier() }
        let perUser = users.enumerated().map { number, user in
            admitted(10, by: flood, .signIn, from: "203.0.113.\(number)", user: user, at: now)
        }
        #expect(perUser.allSatisfy { $0 <= limit })
        #expect(perUser.reduce(limit, +) == AuditRateLimiter.limitPerKind)
    }

    @Test func `refusals are recorded up to a limit for each source and kind, and the rest is counted`() {
        let flood = AuditRateLimiter()
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        #expect(admitted(100, by: flood, .throttled, from: "192.0.2.1", at: now) == AuditRateLimiter.limitPerSource)
        let others = (0..<20).map { admitted(100, by: flood, .throttled, from: "198.51.100.\($0)", at: now) }
        #expect(others.reduce(AuditRateLimiter.limitPerSource, +) == AuditRateLimiter.limitPerKind)
        #expect(admitted(100, by: flood, .consent, from: "192.0.2.1", at: now) == 100)
        for kind in [AuditEvent.Kind.signIn, .clientAuthentication, .codeRedemption] {
            #expect(admitted(10, by: flood, kind, from: "192.0.2.1", at: now) == 10)
        }
        #expect(flood.takeSummaries(at: now + 59).isEmpty)
        #expect(
            admitted(100, by: flood, .throttled, from: "192.0.2.1", at: now + 60) == AuditRateLimiter.limitPerSource)
        let summaries = flood.takeSummaries(at: now + 61)
        #expect(summaries.map(\.kind) == [.throttled])
        #expect(summaries.map(\.at) == [now + 60])
        #expect(summaries.map(\.detail) == ["1950 more events of this kind in one minute were not recorded"])
        #expect(flood.takeSummaries(at: now + 61).isEmpty)
    }

    @Test func `replays of an issued code are recorded even if other refusals reach the limit`() {
        let flood = AuditRateLimiter()
        let now = test.clock.now
        for source in 0..<20 {
            _ = admitted(100, by: flood, .codeRedemption, from: "198.51.100.\(source)", at: now)
        }
        for _ in 0..<100 {
            let grant = GrantIdentifier()
            #expect(
                admitted(100, by: flood, .codeRedemption, from: "198.51.100.1", of: grant, at: now)
                    == AuditRateLimiter.limitPerGrant)
        }
    }

    @Test func `wrong client secrets from twenty addresses hide neither a failed sign-in nor a replayed code`()
        async throws
    {
        let attempt = Attempt(test)
        let code = try await attempt.authorize().code
        _ = try await test.redeem(attempt.exchange(code)).tokenResponse
        let form = FormParameters([
            "grant_type": "authorization_code", "client_id": "app_unknown", "client_secret": "wrong", "code": "none",
        ])
        for address in 0..<20 {
            for _ in 0..<20 {
                _ = await test.send(
                    .post, to: .token, fields: [.contentType: "application/x-www-form-urlencoded"],
                    body: Array(form.encoded.utf8), source: "198.51.100.\(address)")
            }
        }
        #expect(await test.redeem(attempt.exchange(code)).status == .badRequest)
        var browser = test.browser()
        _ = try await browser.signIn(
            on: try await browser.open(Attempt(test).url), username: "alice", password: "not the password")
        #expect(try await events(.codeRedemption).map(\.reason) == [.codeReplay])
        #expect(try await events(.signIn).filter { $0.outcome == .refused }.map(\.userID) == [test.alice.id])

        func failures() async throws -> [AuditEvent] {
            try await test.store.audit(AuditQuery(kind: .clientAuthentication, limit: 1000)).map(\.event)
        }
        #expect(try await failures().count == AuditRateLimiter.limitPerKind)
        let leftOut = try #require(test.server.metrics.snapshot.leftOut[.clientAuthentication])
        #expect(leftOut > 0)
        test.clock.advance(by: 60)
        #expect(await test.redeem(attempt.exchange(code)).status == .badRequest)
        let summary = try #require(try await failures().first)
        #expect(summary.outcome == .refused)
        #expect(summary.detail == "\(leftOut) more events of this kind in one minute were not recorded")
    }

    @Test func `an event has at most 128 bytes of a client_id, and the whole one finds it`() async throws {
        let ids = ["1", "2"].map { String(repeating: "a", count: 2000) + $0 }
        for id in ids {
            let form = FormParameters(["grant_type": "client_credentials", "client_id": id, "client_secret": "wrong"])
            #expect(await test.redeem(form).status == .badRequest)
        }
        for id in ids {
            let query = AuditQuery(clientID: ClientIdentifier(id))
            let found = try await test.store.audit(query).map(\.event)
            #expect(found.count == 1)
            let kept = try #require(found.first?.clientID?.rawValue)
            #expect(kept.utf8.count == 128 && kept.contains(/^a{95}~[0-9a-f]{32}$/), "\(kept)")
        }
        #expect(!test.log.lines.contains { $0.contains(String(repeating: "a", count: 129)) })
    }

    // A grapheme cluster can contain any number of scalars.
    @Test(arguments: [
        (String(repeating: "x", count: 300), 200), ("e" + String(repeating: "\u{301}", count: 300), 199),
        (String(repeating: "爱", count: 100), 198), ("short", 5),
    ])
    func `the detail of an event is limited by bytes`(text: String, length: Int) throws {
        let detail = try #require(AuditEvent(at: test.clock.now, .setting, detail: text).detail)
        #expect(detail.utf8.count == length)
        #expect(text.utf8.starts(with: detail.utf8))
    }

    @Test func `a log that cannot be written delays no response, and the loss is counted`() async throws {
        let store = TestStore()
        let test = try await TestServer(store: store)
        store.fail(.appendAudit)
        // The events of a sign-in, an approval and a redemption belong to their commits.
        let attempt = Attempt(test)
        _ = try await attempt.tokens()
        #expect(test.server.metrics.snapshot.events[.auditWriteFailure] ?? 0 == 0)
        var browser = test.browser()
        let page = try await browser.open(attempt.url)
        #expect(try await browser.signIn(on: page, username: "alice", password: "x").status == .badRequest)
        #expect(test.server.metrics.snapshot.events[.auditWriteFailure] ?? 0 > 0)
    }
}
