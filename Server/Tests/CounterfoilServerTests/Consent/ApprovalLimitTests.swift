import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// The limit of approvals of one user in a minute.
struct ApprovalLimitTests {
    private static let callback = "https://darkroom.example/cb"

    @Test func `after sixty approvals in a minute a user is throttled, and another one is not`() async throws {
        let test = try await TestServer()
        _ = try await test.addUser("bob")
        let client = try await test.register("Darkroom", type: .web, redirectURIs: [Self.callback])
        let attempt = Attempt(test, by: client, at: Self.callback)
        var (alice, bob) = (test.browser(), test.browser())
        _ = try await attempt.authorize(with: &alice)
        for _ in 1..<60 { _ = try await alice.open(attempt.url).code }
        test.clock.advance(by: 20)

        let page = try await alice.open(attempt.url)
        #expect(page.status == .tooManyRequests)
        #expect(page.fields[.retryAfter] == "40")
        #expect(try page.problemPage.title == "Too many sign-ins with your account")
        // RFC 6749 §4.1.2.1: where no page may be shown, the client gets the error.
        let silent = try await alice.open(attempt.with("prompt", "none").url)
        #expect(try silent.redirectedError.code == .temporarilyUnavailable)
        #expect(try await test.store.audit(AuditQuery(kind: .throttled)).count == 2)
        let other = try await bob.authorize(attempt.url, username: "bob", password: TestServer.password)
        #expect(try other.code.exposed.utf8.count == 43)

        test.clock.advance(by: 40)
        #expect(try await alice.open(attempt.url).code.exposed.utf8.count == 43)
    }

    @Test func `a consent form counts as well`() async throws {
        let test = try await TestServer { $0.approvalsPerMinute = 1 }
        var browser = test.browser()
        #expect(try await Attempt(test).authorize(with: &browser).code.exposed.utf8.count == 43)
        let page = try await browser.open(Attempt(test).url)
        let reply = try await browser.decide(.allow, on: page)
        #expect(reply.status == .tooManyRequests)
    }
}
