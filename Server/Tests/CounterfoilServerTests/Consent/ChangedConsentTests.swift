import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// A decision is valid for the revision of the client that its page showed.
struct ChangedConsentTests {
    private static func consent() async throws -> (test: TestServer, browser: ScriptedUserAgent, reply: Reply) {
        let test = try await TestServer()
        let (browser, reply) = try await Attempt(test).afterSignIn()
        return (test, browser, reply)
    }

    // A page states that the client has changed, and leads to a new decision.
    @Test(arguments: [ScriptedUserAgent.Decision.allow, .deny])
    func `a decision on a page of another revision is refused and asked again`(
        decision: ScriptedUserAgent.Decision
    ) async throws {
        var (test, browser, reply) = try await Self.consent()
        try await test.change(test.lightbox) { $0.presentation.name = "Lightbox by somebody else" }
        let answer = try await browser.decide(decision, on: reply)
        #expect(answer.status == .conflict)
        let page = try answer.problemPage
        #expect(page.title == "This app has changed")
        let continueLink = try #require(page.continueLink)
        #expect(continueLink.title == "Ask me again")
        #expect(
            try answer.html().contains("<a class=\"button primary\" href=\"https://id.example.com/oauth2/authorize?"))
        #expect(try await test.store.consent(of: test.alice.id, to: test.lightbox.id) == nil)

        reply = try await browser.open(continueLink.address)
        #expect(try reply.consentPage.clientName == "Lightbox by somebody else")
        #expect(try await browser.decide(.allow, on: reply).code.exposed.utf8.count == 43)
    }

    // Changes that users do not see, such as to a policy, count too.
    @Test func `a change of the policy is a change`() async throws {
        var (test, browser, reply) = try await Self.consent()
        try await test.change(test.lightbox) { $0.optionalScope = $0.scope }
        #expect(try await browser.decide(.allow, on: reply).status == .conflict)
    }

    // Also if the original request is not valid any more.
    @Test func `a decision about a client whose redirect URI was deleted is refused`() async throws {
        var (test, browser, reply) = try await Self.consent()
        let other = try RedirectURI("https://elsewhere.example/cb")
        try await test.change(test.lightbox) { $0.redirectURIs = [other] }
        let answer = try await browser.decide(.allow, on: reply)
        #expect(try answer.problemPage.title == "This app has changed")
    }

    @Test func `a decision about a deleted client is refused`() async throws {
        var (test, browser, reply) = try await Self.consent()
        #expect(try await test.store.removeClient(test.lightbox.id))
        for decision in [ScriptedUserAgent.Decision.allow, .deny] {
            let answer = try await browser.decide(decision, on: reply)
            #expect(answer.status == .badRequest)
            #expect(try answer.problemPage.title == "This app is no longer registered")
        }
    }

    // The sign-in page has the same check.
    @Test func `a sign-in for a client that was changed or deleted is refused`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        let first = try await browser.open(Attempt(test).url)
        let other = try RedirectURI("https://elsewhere.example/cb")
        try await test.change(test.lightbox) { $0.redirectURIs = [other] }
        let changed = try await browser.signIn(on: first, username: "alice", password: TestServer.password)
        #expect(try changed.problemPage.title == "This app has changed")
        #expect(try await test.store.removeClient(test.lightbox.id))
        let gone = try await browser.signIn(on: first, username: "alice", password: TestServer.password)
        #expect(try gone.problemPage.title == "This app is no longer registered")
        #expect(changed.cookies.isEmpty && gone.cookies.isEmpty)
    }

    // The revision is authenticated, so a form cannot state another one.
    @Test func `the revision in the ticket cannot be forged`() async throws {
        var (test, browser, reply) = try await Self.consent()
        let page = try reply.consentPage
        try await test.change(test.lightbox) { $0.presentation.name = "Lightbox by somebody else" }
        let now = try await browser.open(Attempt(test).url).consentPage
        let old = page.ticket.split(separator: ".").map(String.init)
        let new = now.ticket.split(separator: ".").map(String.init)
        try #require(old.count == 4 && new.count == 4)
        let forged: [[String]] = [
            [new[0]] + old[1...], Array(new[..<2]) + old[2...], Array(new[..<3]) + [old[3]], [old[3]], ["", old[3]],
            [new[0], "", new[1]] + old[2...],
        ]
        for parts in forged {
            let form = page.form(.allow).setting("ticket", to: parts.joined(separator: "."))
            #expect(try await browser.submit(form, to: page.action).status == .forbidden)
        }
    }

    // "Use another account" works for any revision of the client.
    @Test func `another user can sign in although the client changed`() async throws {
        var (test, browser, reply) = try await Self.consent()
        try await test.change(test.lightbox) { $0.presentation.name = "Lightbox 2" }
        #expect(try await browser.decide(.switchAccount, on: reply).signInPage.clientName == "Lightbox 2")
    }
}
