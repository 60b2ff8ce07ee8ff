import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilTesting
import Foundation
import HTTPTypes
import Testing

@testable import CounterfoilServer

/// What happened is noted: who, what, which application, from where, and how it ended.
struct AuditTests {
    private let test: TestServer

    init() async throws { test = try await TestServer() }

    private func events(_ kind: AuditEvent.Kind) async throws -> [AuditEvent] {
        try await test.store.audit(AuditQuery(kind: kind)).map(\.event)
    }

    @Test func `signing in, allowing and refusing are noted`() async throws {
        _ = try await Attempt(test).authorize(decision: .deny)
        _ = try await Attempt(test).authorize()
        let signIns = try await events(.signIn)
        #expect(signIns.map(\.outcome) == [.done, .done])
        #expect(signIns.allSatisfy { $0.personID == test.alice.id && $0.clientID == test.lightbox.id })
        #expect(signIns.allSatisfy { $0.source == "192.0.2.1" && $0.requestID != nil })
        let consents = try await events(.consent)
        #expect(consents.map(\.outcome) == [.done, .refused])
        #expect(consents.first?.detail == "photos.read")
    }

    // One character can have any number of scalars.
    @Test func `the detail of an event has at most 200 bytes`() {
        func detail(_ text: String) -> String? { AuditEvent(at: test.clock.now, .setting, detail: text).detail }
        #expect(detail("e" + String(repeating: "\u{301}", count: 5000))?.utf8.count == 199)
        #expect(detail(String(repeating: "a", count: 200))?.utf8.count == 200)
    }

    // Whose password was tried is noted; what was typed is not.
    @Test func `a failed sign-in names the person who is known, and never what was typed`() async throws {
        for (name, person) in [("alice", test.alice.id), ("nobody-hunter2", nil)] {
            var browser = test.browser()
            let page = try await browser.open(Attempt(test).url)
            _ = try await browser.signIn(on: page, username: name, password: "not the password")
            let event = try #require(try await events(.signIn).first)
            #expect(event.outcome == .refused)
            #expect(event.personID == person)
        }
        let said = try await events(.signIn).map { "\($0)" }.joined()
        #expect(!said.contains("hunter2"))
        #expect(!said.contains("not the password"))
    }

    // So is whoever has to wait after too many tries, on either page.
    @Test func `a sign-in that has to wait is noted`() async throws {
        var browser = test.browser()
        let page = try await browser.open(Attempt(test).url)
        let console = try await browser.open("/sign-in?to=/account")
        for _ in 0..<12 { _ = try await browser.signIn(on: page, username: "alice", password: "not the password") }
        #expect(try await browser.signIn(on: page, username: "alice", password: "x").status == .tooManyRequests)
        #expect(try await browser.signIn(on: console, username: "alice", password: "x").status == .tooManyRequests)
        let waits = try await events(.throttled)
        #expect(waits.count >= 2)
        #expect(waits.allSatisfy { $0.outcome == .refused && $0.detail == "sign-in" && $0.source == "192.0.2.1" })
        #expect(waits.first?.clientID == nil)
        #expect(waits.last?.clientID == test.lightbox.id)
    }

    // The keys of the first start, those that age brings, and those that go.
    @Test func `the life of signing keys is noted from the first one on`() async throws {
        let store = MemoryStore()
        let key = try #require(ServerKey(bytes: [UInt8](repeating: 9, count: 32)))
        _ = try await KeyRing.open(store, serverKey: key)
        let made = try await store.audit(AuditQuery(kind: .signingKey)).map(\.event)
        #expect(made.count == KeyRing.algorithms.count)
        let keys = try await store.signingKeys()
        for (event, key) in zip(made.reversed(), keys) {
            #expect(event.detail == "\(key.algorithm): created the first key, \(key.id)")
        }
        _ = try await KeyRing.open(store, serverKey: key)
        #expect(try await store.audit(AuditQuery(kind: .signingKey)).count == made.count)

        let day = 86_400.0
        test.clock.advance(by: 91 * day)
        try await test.server.housekeeper.lookAfterKeys()
        test.clock.advance(by: 60 * day)
        try await test.server.housekeeper.lookAfterKeys()
        let details = try await events(.signingKey).compactMap(\.detail)
        #expect(details.contains { $0.contains("rotated by age") })
        #expect(details.first == "deleted signing keys whose tokens have all expired: 3")
    }

    @Test func `a replayed code and an application that cannot authenticate are noted`() async throws {
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
        #expect(await test.redeem(form).status == .unauthorized)
        let refused = try #require(try await events(.clientAuthentication).first)
        #expect(refused.clientID == web.id)
        #expect(refused.outcome == .refused)
    }

    // Each use of an exception from S256 is written down.
    @Test func `each code without S256 is noted`() async throws {
        var policy = ClientPolicy.standard(for: .native)
        policy.pkce = .s256OrPlain
        policy.isVouchedFor = true
        let client = try await test.register("Old", under: policy)
        let attempt = Attempt(test, by: client)
        _ = try await attempt.with("code_challenge", attempt.verifier.exposed).with("code_challenge_method", "plain")
            .authorize()
        let event = try #require(try await events(.pkceException).first)
        #expect(event.clientID == client.id)
        #expect(event.personID == test.alice.id)
        #expect(event.source == "192.0.2.1")
        #expect(event.detail == "code_challenge_method plain, policy s256-or-plain")
        _ = try await Attempt(test).authorize()
        #expect(try await events(.pkceException).count == 1)
    }

    @Test func `what is done at the console is noted with who did it`() async throws {
        var developer = try await Developer("dora", of: test)
        let name = try #require(Username("dora"))
        let dora = try #require(try await test.store.person(named: name)).id
        let client = try await developer.registered()
        #expect(try await events(.application).map(\.detail) == ["registered"])
        #expect(try await events(.application).map(\.personID) == [dora])
        #expect(try await events(.application).map(\.clientID) == [client.id])
        let page = try await developer.browser.open("/account").accountPage
        _ = try await developer.browser.submit(
            FormParameters(["ticket": page.console.signOutTicket]), to: page.console.paths.signOut)
        #expect(try await events(.signOut).map(\.personID) == [dora])
    }

    /// How many of so many refusals are recorded.
    private func admitted(
        _ count: Int, by flood: AuditFlood, _ kind: AuditEvent.Kind, from source: String,
        of grant: GrantIdentifier? = nil, at time: Date
    ) -> Int {
        (0..<count).count { _ in flood.admits(AuditEvent(at: time, kind, .refused, grantID: grant, source: source)) }
    }

    // SEC-40
    @Test func `strangers spend a budget for each kind of refusal, and the rest is counted`() {
        let flood = AuditFlood()
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        #expect(admitted(100, by: flood, .throttled, from: "192.0.2.1", at: now) == AuditFlood.limitPerSource)
        let others = (0..<20).map { admitted(100, by: flood, .throttled, from: "198.51.100.\($0)", at: now) }
        #expect(others.reduce(AuditFlood.limitPerSource, +) == AuditFlood.limitPerKind)
        #expect(admitted(100, by: flood, .consent, from: "192.0.2.1", at: now) == 100)
        for kind in [AuditEvent.Kind.signIn, .clientAuthentication, .codeRedemption] {
            #expect(admitted(10, by: flood, kind, from: "192.0.2.1", at: now) == 10)
        }
        #expect(flood.takeSummaries(at: now + 59).isEmpty)
        #expect(admitted(100, by: flood, .throttled, from: "192.0.2.1", at: now + 60) == AuditFlood.limitPerSource)
        let summaries = flood.takeSummaries(at: now + 61)
        #expect(summaries.map(\.kind) == [.throttled])
        #expect(summaries.map(\.at) == [now + 60])
        #expect(summaries.map(\.detail) == ["1950 more events of this kind in one minute were not recorded"])
        #expect(flood.takeSummaries(at: now + 61).isEmpty)
    }

    // SEC-41
    @Test func `a code that was issued is recorded whatever strangers do, a few times a minute`() {
        let flood = AuditFlood()
        let now = test.clock.now
        for source in 0..<20 {
            _ = admitted(100, by: flood, .codeRedemption, from: "198.51.100.\(source)", at: now)
        }
        for _ in 0..<100 {
            let grant = GrantIdentifier()
            #expect(
                admitted(100, by: flood, .codeRedemption, from: "198.51.100.1", of: grant, at: now)
                    == AuditFlood.limitPerGrant)
        }
    }

    // SEC-40, SEC-41
    @Test func `wrong client secrets from ten addresses hide neither a failed sign-in nor a replayed code`()
        async throws
    {
        let attempt = Attempt(test)
        let code = try await attempt.authorize().code
        _ = try await test.redeem(attempt.exchange(code)).tokenResponse
        let form = FormParameters([
            "grant_type": "authorization_code", "client_id": "app_unknown", "client_secret": "wrong", "code": "none",
        ])
        for address in 0..<10 {
            for _ in 0..<60 {
                _ = await test.send(
                    .post, to: .token, fields: [.contentType: "application/x-www-form-urlencoded"],
                    body: Array(form.encoded.utf8), source: "198.51.100.\(address)")
            }
        }
        #expect(await test.redeem(attempt.exchange(code)).status == .badRequest)
        var browser = test.browser()
        _ = try await browser.signIn(
            on: try await browser.open(Attempt(test).url), username: "alice", password: "not the password")
        #expect(try await events(.codeRedemption).map(\.detail) == ["redeemed before"])
        #expect(try await events(.signIn).filter { $0.outcome == .refused }.map(\.personID) == [test.alice.id])

        func failures() async throws -> [AuditEvent] {
            try await test.store.audit(AuditQuery(kind: .clientAuthentication, limit: 1000)).map(\.event)
        }
        #expect(try await failures().count == AuditFlood.limitPerKind)
        let leftOut = try #require(test.server.metrics.snapshot.events[.auditLeftOut])
        #expect(leftOut > 0)
        test.clock.advance(by: 60)
        #expect(await test.redeem(attempt.exchange(code)).status == .badRequest)
        let summary = try #require(try await failures().first)
        #expect(summary.outcome == .refused)
        #expect(summary.detail == "\(leftOut) more events of this kind in one minute were not recorded")
    }

    // A character can have any number of scalars.
    @Test(arguments: [
        (String(repeating: "x", count: 300), 200), ("e" + String(repeating: "\u{301}", count: 300), 199),
        (String(repeating: "爱", count: 100), 198), ("short", 5),
    ])
    func `the detail of an event is limited by bytes`(text: String, length: Int) throws {
        let detail = try #require(AuditEvent(at: test.clock.now, .setting, detail: text).detail)
        #expect(detail.utf8.count == length)
        #expect(text.utf8.starts(with: detail.utf8))
    }

    @Test func `a log that cannot be written holds nobody up, and is counted`() async throws {
        let store = FaultyStore()
        let test = try await TestServer(store: store)
        store.fail(.appendAudit)
        _ = try await Attempt(test).tokens()
        #expect(test.server.metrics.snapshot.events[.auditWriteFailure] ?? 0 > 0)
    }
}
