import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// The numbers of sign-ins, failures, refreshes and new users that servers add up in their store.
struct ActivityTests {
    private let store = TestStore()
    private let clock = FixedClock()
    private let first: TestServer
    private let second: TestServer

    init() async throws {
        first = try await TestServer(store: store, clock: clock)
        second = try await TestServer(store: store, clock: clock)
    }

    /// The numbers of the hours since the start of the clock.
    private func counts(hours: Int = 1) async throws -> [ActivityCounts] {
        let start = Date(timeIntervalSince1970: 1_800_000_000)
        return try await store.activity(between: (0...hours).map { start + Double($0) * 3600 })
    }

    private func fail(at server: TestServer) async throws {
        var browser = server.browser()
        let reply = try await browser.signIn(
            on: try await browser.open(Attempt(server).url), username: "alice", password: "wrong")
        #expect(reply.status == .badRequest)
    }

    private func refresh(at server: TestServer) async throws {
        var policy = ClientPolicy.standard(for: .native)
        policy.refreshTokens = .always
        let client = try await server.register("Darkroom", under: policy)
        let token = try #require(try await Attempt(server, by: client).tokens().refreshToken)
        let reply = await server.redeem(
            FormParameters([
                "grant_type": "refresh_token", "client_id": client.id.rawValue, "refresh_token": token.exposed,
            ]))
        #expect(reply.status == .ok)
    }

    @Test func `sign-ins, failures and refreshes of two servers add up, without a write of any request`() async throws {
        try await refresh(at: first)
        try await refresh(at: second)
        try await fail(at: second)
        #expect(store.calls(of: .addActivity) == 0)
        try await first.server.heartbeat.beat()
        try await second.server.heartbeat.beat()
        // alice is the only new user.
        #expect(try await counts() == [[.signIn: 2, .refresh: 2, .failedSignIn: 1, .newUser: 1]])
        // What is written is not written again.
        try await first.server.heartbeat.beat()
        #expect(store.calls(of: .addActivity) == 2)
        clock.advance(by: 3600)
        try await refresh(at: first)
        await first.server.heartbeat.finish()
        #expect(
            try await counts(hours: 2) == [
                [.signIn: 2, .refresh: 2, .failedSignIn: 1, .newUser: 1], [.signIn: 1, .refresh: 1],
            ])
    }

    @Test func `the page after the password is no failure of a sign-in with a second factor`() async throws {
        var console = first.browser()
        try await console.signInToConsole(username: "alice")
        let app = try await first.setUpSecondFactor(in: &console).app
        var browser = first.browser()
        let page = try await browser.open(Attempt(first).with("prompt", "login").url)
        let asked = try await browser.signIn(on: page, username: "alice", password: TestServer.password)
        _ = try await browser.enter(first.code(of: app), on: asked).consentPage
        try await first.server.heartbeat.beat()
        #expect(try await counts() == [[.signIn: 2, .newUser: 1]])
    }

    @Test func `a sign-in at the page for devices counts once, and so does another device in its session`() async throws
    {
        let device = try await TestDevice(first)
        var browser = first.browser()
        for number in 1...2 {
            let codes = try await device.codes()
            #expect(try await browser.answer(codes).deviceDonePage.kind == .approved)
            try await first.server.heartbeat.beat()
            #expect(try await counts() == [[.signIn: number, .newUser: 1]])
            // The log has the sign-ins to the client.
            #expect(try await store.audit(AuditQuery(kind: .signIn, clientID: device.client.id)).count == number)
            clock.advance(by: 61)
        }
    }

    @Test func `a store that fails gets the numbers later, in the hour in which they were counted`() async throws {
        try await refresh(at: first)
        store.fail(.addActivity)
        await #expect(throws: StoreFault.self) { try await first.server.heartbeat.beat() }
        clock.advance(by: 3600)
        store.recover()
        try await refresh(at: first)
        try await first.server.heartbeat.beat()
        #expect(
            try await counts(hours: 2) == [
                [.signIn: 1, .refresh: 1, .newUser: 1], [.signIn: 1, .refresh: 1],
            ])
    }
}
