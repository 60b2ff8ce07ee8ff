import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// Commits whose answer is lost: the server does not know whether they were carried out.
struct LostCommitTests {
    /// A server, another one on the same store, and the token request for a code.
    private struct Issued {
        let store = TestStore()
        let test: TestServer
        let other: TestServer
        let form: FormParameters
        let grantID: GrantIdentifier

        init() async throws {
            test = try await TestServer(store: store)
            other = try await TestServer(store: store, clock: test.clock)
            let attempt = Attempt(test)
            let code = try await attempt.authorize().code
            form = attempt.exchange(code)
            grantID = try #require(try await store.code(ArtefactDigest(of: code))).grant.id
        }

        var revokedAt: Date? { get async throws { try await store.grant(grantID)?.revokedAt } }
    }

    private static func expectUnconfirmed(_ reply: Reply) throws {
        #expect(reply.status == .serviceUnavailable)
        #expect(reply.fields[.retryAfter] == "1")
        #expect(reply.fields[.cacheControl] == "no-store")
        switch reply.content {
        case .json: #expect(try reply.tokenError.error == "temporarily_unavailable")
        default: #expect(try reply.problemPage.explanation.contains("can't tell if your change was saved"))
        }
    }

    private static func expectUndecided(_ reply: Reply) throws {
        #expect(reply.status == .serviceUnavailable)
        #expect(reply.fields[.retryAfter] == "5")
        #expect(try reply.tokenError.error == "temporarily_unavailable")
    }

    // MARK: - Codes

    @Test(arguments: [true, false], [1, 2])
    func `a redemption is sent again when its answer is lost, and is no replay of itself`(
        isCommitted: Bool, times: Int
    ) async throws {
        let issued = try await Issued()
        issued.store.lose(.consumeCode, committing: isCommitted, times: times)
        let tokens = try await issued.test.redeem(issued.form).tokenResponse
        #expect(issued.store.calls(of: .consumeCode) == times + 1)
        #expect(try await issued.revokedAt == nil)
        // It counts as redeemed.
        #expect(try await issued.test.redeem(issued.form).tokenError.error == "invalid_grant")
        #expect(try await IssuedTokens(issued.test).grant(of: tokens.accessToken).revokedAt != nil)
    }

    @Test(arguments: [true, false])
    func `a client whose redemption stayed unknown gets tokens for the same request`(isCommitted: Bool) async throws {
        let issued = try await Issued()
        issued.store.lose(.consumeCode, committing: isCommitted)
        for _ in 1...2 { try Self.expectUnconfirmed(await issued.test.redeem(issued.form)) }
        issued.store.recover()
        #expect(await issued.test.redeem(issued.form).status == .ok)
        #expect(try await issued.revokedAt == nil)
        #expect(try await issued.test.redeem(issued.form).tokenError.error == "invalid_grant")
        #expect(try await issued.revokedAt != nil)
    }

    @Test(arguments: [true, false])
    func `another process gives tokens when the first has recorded that it gave none`(
        isCommitted: Bool
    ) async throws {
        let issued = try await Issued()
        issued.store.lose(.consumeCode, committing: isCommitted)
        try Self.expectUnconfirmed(await issued.test.redeem(issued.form))
        issued.store.recover()
        if isCommitted {
            try Self.expectUndecided(await issued.other.redeem(issued.form))
            #expect(try await issued.revokedAt == nil)
            try await issued.test.server.heartbeat.beat()
        }
        #expect(await issued.other.redeem(issued.form).status == .ok)
        try await issued.test.server.heartbeat.beat()
        #expect(try await issued.revokedAt == nil)
    }

    @Test func `a process that ends without a record revokes no grant and leaves no second tokens`() async throws {
        let issued = try await Issued()
        issued.store.lose(.consumeCode, committing: true)
        try Self.expectUnconfirmed(await issued.test.redeem(issued.form))
        issued.store.recover()
        issued.test.clock.advance(by: 59)
        try Self.expectUndecided(await issued.other.redeem(issued.form))
        issued.test.clock.advance(by: 1)
        #expect(try await issued.other.redeem(issued.form).tokenError.error == "invalid_grant")
        #expect(try await issued.revokedAt == nil)
    }

    // In both orders of the replay and the record that tokens were sent.
    @Test(arguments: [true, false])
    func `a replay at another process revokes the tokens`(isRecordedFirst: Bool) async throws {
        let issued = try await Issued()
        #expect(await issued.test.redeem(issued.form).status == .ok)
        if isRecordedFirst {
            try await issued.test.server.heartbeat.beat()
        } else {
            try Self.expectUndecided(await issued.other.redeem(issued.form))
            #expect(try await issued.revokedAt == nil)
            try await issued.test.server.heartbeat.beat()
            #expect(try await issued.revokedAt != nil)
            let events = try await issued.store.audit(AuditQuery(kind: .revocation)).map(\.event)
            #expect(events.map(\.detail) == ["code-replay"])
        }
        #expect(try await issued.other.redeem(issued.form).tokenError.error == "invalid_grant")
        #expect(try await issued.revokedAt != nil)
    }

    @Test func `a server that shuts down records which codes got their tokens`() async throws {
        let issued = try await Issued()
        #expect(await issued.test.redeem(issued.form).status == .ok)
        let heartbeat = Task { await issued.test.server.heartbeat.run() }
        heartbeat.cancel()
        await heartbeat.value
        #expect(try await issued.other.redeem(issued.form).tokenError.error == "invalid_grant")
        #expect(try await issued.revokedAt != nil)
    }

    @Test(arguments: [true, false])
    func `of two redemptions at once, one gets tokens although answers are lost`(isCommitted: Bool) async throws {
        let issued = try await Issued()
        issued.store.lose(.consumeCode, committing: isCommitted, times: 2)
        let replies = await withTaskGroup(of: Reply.self) { group in
            for _ in 1...2 { group.addTask { await issued.test.redeem(issued.form) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(replies.count { $0.status == .ok } == 1)
        #expect(replies.count { $0.status == .badRequest } == 1)
        #expect(try await issued.revokedAt != nil)
    }

    // The two requests are at two processes.
    @Test(arguments: [true, false])
    func `a redemption at another process while an answer is lost yields tokens once`(isCommitted: Bool) async throws {
        let issued = try await Issued()
        issued.store.lose(.consumeCode, committing: isCommitted, times: 1)
        // The other process redeems the code before the first one sends its commit again.
        issued.store.before(.consumeCode) {
            issued.store.before(.consumeCode) {
                let reply = await issued.other.redeem(issued.form)
                #expect(reply.status == (isCommitted ? .serviceUnavailable : .ok))
            }
        }
        let reply = await issued.test.redeem(issued.form)
        #expect(reply.status == (isCommitted ? .ok : .serviceUnavailable))
        #expect(try await issued.revokedAt == nil)
        try await issued.test.server.heartbeat.beat()
        try await issued.other.server.heartbeat.beat()
        // A second redemption came, and tokens were sent, so the code was replayed.
        #expect(try await issued.revokedAt != nil)
    }

    @Test func `a redemption that the store refused earlier is not withdrawn`() async throws {
        let issued = try await Issued()
        issued.store.fail(.consumeCode)
        #expect(await issued.test.redeem(issued.form).status == .serviceUnavailable)
        #expect(issued.store.calls(of: .consumeCode) == 1)
        issued.store.recover()
        try await issued.test.server.heartbeat.beat()
        #expect(issued.store.calls(of: .settleRedemptions) == 0)
        #expect(await issued.test.redeem(issued.form).status == .ok)
    }

    // A device sends the same request with each poll.
    @Test(arguments: [true, false])
    func `a device whose redemption stayed unknown gets tokens at its next poll`(isCommitted: Bool) async throws {
        let store = TestStore()
        let device = try await TestDevice(try await TestServer(store: store))
        let codes = try await device.codes()
        var browser = device.test.browser()
        store.lose(.recordConsent, committing: isCommitted, times: 1)
        #expect(try await browser.answer(codes).deviceDonePage.kind == .approved)
        store.lose(.consumeCode, committing: isCommitted)
        try Self.expectUnconfirmed(await device.poll(codes))
        store.recover()
        #expect(await device.poll(codes).status == .ok)
        #expect(try await device.poll(codes).tokenError.error == "invalid_grant")
    }

    // MARK: - Refresh tokens

    @Test(arguments: [true, false], [1, .max])
    func `a refresh whose answer is lost gets the same successor, at once or for the next request`(
        isCommitted: Bool, times: Int
    ) async throws {
        let store = TestStore()
        let stayed = try await RefreshTokenGrantTests.Stayed(try await TestServer(store: store), type: .singlePage)
        store.lose(.recordRefresh, committing: isCommitted, times: times)
        let first = try await stayed.refresh()
        if times == .max {
            try Self.expectUnconfirmed(first)
            store.recover()
            // The deadline of a request and the time to wait are shorter than the shortest grace period.
            stayed.test.clock.advance(by: 6)
        }
        let successor = times == 1 ? try first.tokenResponse : try await stayed.refresh().tokenResponse
        let repeated = times == .max && isCommitted ? 1 : 0
        #expect(try await store.refreshStatistics(of: stayed.client.id).repeats == repeated)
        #expect(try await stayed.refresh(successor.refreshToken).status == .ok)
    }

    // The client retries meanwhile, and continues with the successor.
    @Test func `a refresh that is sent again after its successor was used revokes nothing`() async throws {
        let store = TestStore()
        let stayed = try await RefreshTokenGrantTests.Stayed(try await TestServer(store: store))
        store.lose(.recordRefresh, committing: true, times: 1)
        let (test, form) = (stayed.test, try stayed.form())
        store.before(.recordRefresh) {
            store.before(.recordRefresh) {
                let successor = try? await test.redeem(form).tokenResponse.refreshToken
                let last = try? await stayed.refresh(successor).status
                #expect(last == .ok)
            }
        }
        #expect(try await stayed.refresh().tokenError.error == "invalid_grant")
        #expect(try await store.refreshStatistics(of: stayed.client.id).reuses == 0)
        #expect(try await store.refreshStatistics(of: stayed.client.id).revocations == 0)
    }

    // MARK: - Approvals

    @Test(arguments: [true, false])
    func `an approval is sent again when its answer is lost`(isCommitted: Bool) async throws {
        let store = TestStore()
        let test = try await TestServer(store: store)
        store.lose(.recordConsent, committing: isCommitted, times: 2)
        let attempt = Attempt(test)
        #expect(await test.redeem(attempt.exchange(try await attempt.authorize().code)).status == .ok)
    }

    @Test(arguments: [true, false])
    func `an approval that stays unknown shows a page, and the app can start again`(isCommitted: Bool) async throws {
        let store = TestStore()
        let test = try await TestServer(store: store)
        store.lose(.recordConsent, committing: isCommitted)
        try Self.expectUnconfirmed(try await Attempt(test).authorize())
        store.recover()
        _ = try await Attempt(test).tokens()
    }

    @Test(arguments: [true, false])
    func `of two submissions of one page at once, one gets a code although an answer is lost`(
        isCommitted: Bool
    ) async throws {
        let store = TestStore()
        let test = try await TestServer(store: store)
        var browser = test.browser()
        let page = try await browser.signIn(
            on: try await browser.open(Attempt(test).url), username: "alice", password: TestServer.password)
        let (first, second) = (browser, browser)
        store.lose(.recordConsent, committing: isCommitted, times: 1)
        let replies = try await withThrowingTaskGroup(of: Reply.self) { group in
            for copy in [first, second] {
                group.addTask {
                    var browser = copy
                    return try await browser.decide(.allow, on: page)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(replies.count { $0.status == .badRequest } == 1)
        #expect(replies.count { (try? $0.code) != nil } == 1)
    }
}
