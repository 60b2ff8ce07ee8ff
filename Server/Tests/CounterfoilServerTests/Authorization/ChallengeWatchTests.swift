import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// Detection of clients that send a constant code challenge (RFC 9700 §2.1.1).
struct ChallengeWatchTests {
    private static let verifier = CodeVerifier()

    private static func signIn(
        _ test: TestServer, by client: RegisteredClient? = nil, _ verifier: CodeVerifier = verifier
    )
        async throws
    {
        _ = try await Attempt(test, by: client, verifier: verifier).tokens()
    }

    private static func recorded(_ test: TestServer) async throws -> [AuditEvent] {
        try await test.store.audit(AuditQuery(kind: .challengeReuse)).map(\.event)
    }

    @Test func `a challenge used for two sign-ins is reported with its client`() async throws {
        let test = try await TestServer()
        try await Self.signIn(test)
        #expect(try await Self.recorded(test).isEmpty)
        try await Self.signIn(test)
        let event = try #require(try await Self.recorded(test).first)
        #expect(event.clientID == test.lightbox.id)
        #expect(event.userID == test.alice.id)
        #expect(event.grantID != nil && event.source != nil)
        // The log line contains no secret.
        let detail = try #require(event.detail)
        #expect(!detail.contains(CodeChallenge(of: Self.verifier).rawValue))
    }

    // The developer sees it on the page of the app.
    @Test func `the page of the app reports a constant challenge`() async throws {
        let test = try await TestServer()
        var developer = try await Developer("dora", of: test)
        let client = try await developer.registered(Developer.form(redirectURIs: "http://127.0.0.1/callback"))
        try await test.setPolicy(ClientPolicy(requiresState: false), of: client.id)
        try await Self.signIn(test, by: client)
        #expect(try await developer.browser.open("/apps/\(client.id)").clientPage.pkceDanger == nil)
        try await Self.signIn(test, by: client)
        let danger = try await developer.browser.open("/apps/\(client.id)").clientPage.pkceDanger
        #expect(try #require(danger).contains("code_challenge"))
    }

    // A client that creates a challenge for each request, and two clients with the same challenge, are not
    // reported.
    @Test func `changing challenges are not reported`() async throws {
        let test = try await TestServer()
        let other = try await test.register("Darkroom", redirectURIs: ["http://127.0.0.1/callback"])
        for _ in 0..<20 { try await Self.signIn(test, CodeVerifier()) }
        try await Self.signIn(test)
        try await Self.signIn(test, by: other)
        #expect(try await Self.recorded(test).isEmpty)
    }

    // A user who opens or submits one request twice does not make the client's challenge constant.
    @Test func `a request that a user opens twice is not reported`() async throws {
        let test = try await TestServer()
        let attempt = Attempt(test)
        var browser = test.browser()
        _ = try await attempt.authorize(with: &browser).code
        let code = try await attempt.authorize(with: &browser).code
        #expect(await test.redeem(attempt.exchange(code)).status == .ok)
        #expect(try await test.redeem(attempt.exchange(code)).tokenError.error == "invalid_grant")
        #expect(try await Self.recorded(test).isEmpty)
    }

    // A constant challenge would fill the log with every sign-in, so it is reported once an hour.
    @Test func `a constant challenge is reported once an hour, and no request is refused`() async throws {
        let test = try await TestServer()
        for _ in 0..<10 { try await Self.signIn(test) }
        #expect(try await Self.recorded(test).count == 1)
        test.clock.advance(by: 3600)
        try await Self.signIn(test)
        try await Self.signIn(test)
        #expect(try await Self.recorded(test).count == 2)
    }

    // A constant among changing challenges is detected if it is frequent enough.
    @Test func `a challenge repeated among others is reported`() async throws {
        let test = try await TestServer()
        try await Self.signIn(test)
        for _ in 0..<5 { try await Self.signIn(test, CodeVerifier()) }
        try await Self.signIn(test)
        #expect(try await Self.recorded(test).count == 1)
    }
}
