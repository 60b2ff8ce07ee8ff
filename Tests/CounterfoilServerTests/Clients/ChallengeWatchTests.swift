import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilTesting
import Foundation
import HTTPTypes
import Testing

/// What becomes of an application that sends one challenge with every request (RFC 9700 §2.1.1).
struct ChallengeWatchTests {
    private static let verifier = CodeVerifier()

    private static func signIn(
        _ test: TestServer, by client: RegisteredClient? = nil, _ verifier: CodeVerifier = verifier
    )
        async throws
    {
        _ = try await Attempt(test, by: client, verifier: verifier).tokens()
    }

    private static func noted(_ test: TestServer) async throws -> [AuditEvent] {
        try await test.store.audit(AuditQuery(kind: .challengeReuse)).map(\.event)
    }

    // R218
    @Test func `a challenge that serves two sign-ins is noted with its application`() async throws {
        let test = try await TestServer()
        try await Self.signIn(test)
        #expect(try await Self.noted(test).isEmpty)
        try await Self.signIn(test)
        let event = try #require(try await Self.noted(test).first)
        #expect(event.clientID == test.lightbox.id)
        #expect(event.personID == test.alice.id)
        #expect(event.grantID != nil && event.source != nil)
        // What is noted is no help to whoever reads it.
        let detail = try #require(event.detail)
        #expect(!detail.contains(CodeChallenge(of: Self.verifier).rawValue))
    }

    // The developer learns of it where the application is looked after.
    @Test func `the page of the application says that its challenge does not change`() async throws {
        let test = try await TestServer()
        var developer = try await Developer("dora", of: test)
        let client = try await developer.registered(Developer.form(redirectURIs: "http://127.0.0.1/callback"))
        try await test.setPolicy(ClientPolicy(requiresState: false), of: client.id)
        try await Self.signIn(test, by: client)
        #expect(try await developer.browser.open("/apps/\(client.id)").applicationPage.pkceDanger == nil)
        try await Self.signIn(test, by: client)
        let danger = try await developer.browser.open("/apps/\(client.id)").applicationPage.pkceDanger
        #expect(try #require(danger).contains("code_challenge"))
    }

    // An application that makes a new one each time, and two that have the same one, are left alone.
    @Test func `challenges that change are nothing to note`() async throws {
        let test = try await TestServer()
        let other = try await test.register("Darkroom", redirectURIs: ["http://127.0.0.1/callback"])
        for _ in 0..<20 { try await Self.signIn(test, CodeVerifier()) }
        try await Self.signIn(test)
        try await Self.signIn(test, by: other)
        #expect(try await Self.noted(test).isEmpty)
    }

    // What a person does with one request, opening it twice or answering it twice, is not the application's doing.
    @Test func `a request that a person opens twice is nothing to note`() async throws {
        let test = try await TestServer()
        let attempt = Attempt(test)
        var browser = test.browser()
        _ = try await attempt.authorize(with: &browser).code
        let code = try await attempt.authorize(with: &browser).code
        #expect(await test.redeem(attempt.exchange(code)).status == .ok)
        #expect(try await test.redeem(attempt.exchange(code)).tokenError.error == "invalid_grant")
        #expect(try await Self.noted(test).isEmpty)
    }

    // R218: a constant challenge would fill the log with every sign-in; once an hour says as much.
    @Test func `a constant challenge is noted once an hour, and nobody is refused`() async throws {
        let test = try await TestServer()
        for _ in 0..<10 { try await Self.signIn(test) }
        #expect(try await Self.noted(test).count == 1)
        test.clock.advance(by: 3600)
        try await Self.signIn(test)
        try await Self.signIn(test)
        #expect(try await Self.noted(test).count == 2)
    }

    // A constant among others is found as long as it is not rare.
    @Test func `a challenge that comes back among others is noted`() async throws {
        let test = try await TestServer()
        try await Self.signIn(test)
        for _ in 0..<5 { try await Self.signIn(test, CodeVerifier()) }
        try await Self.signIn(test)
        #expect(try await Self.noted(test).count == 1)
    }
}
