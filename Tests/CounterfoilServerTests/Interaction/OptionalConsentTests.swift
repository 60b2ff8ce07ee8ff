import CounterfoilProtocol
import CounterfoilServer
import CounterfoilTesting
import Foundation
import HTTPTypes
import Testing

/// What a person leaves out is not given, and nothing can be added on the way.
struct OptionalConsentTests {
    private static let address = "http://127.0.0.1:4000/cb"

    private static func attempt(
        _ test: TestServer, for scope: String = "openid photos.read photos.write", optional: String = "photos.write"
    ) async throws -> Attempt {
        let client = try await test.register(
            "Darkroom", redirectURIs: ["http://127.0.0.1/cb"],
            scope: "openid profile photos.read photos.write photos.delete", optionalScope: optional)
        return Attempt(test, by: client, at: address, for: scope)
    }

    // SEC-23
    // Boxes are for optional scopes only.
    @Test func `an optional permission has a box that starts unticked`() async throws {
        let test = try await TestServer()
        let (_, reply) = try await Self.attempt(test).afterSignIn()
        #expect(try reply.consentPage.permissions.map(\.required) == [true, true, false])
        let html = try reply.html()
        #expect(html.matches(of: /type="checkbox"/).count == 1)
        #expect(html.contains("<input type=\"checkbox\" name=\"permission.photos.write\" value=\"granted\">"))
        #expect(html.contains("Select what you want to share."))
    }

    // SEC-23
    // CJEU C-673/17: a box that is ticked beforehand is the decision of whoever runs the server.
    @Test func `an administrator can let the box of a scope start ticked`() async throws {
        let test = try await TestServer()
        let scope = try #require(try await test.store.scopes().first { $0.token.rawValue == "photos.write" })
        var ticked = scope
        ticked.startsTicked = true
        #expect(try await test.store.updateScope(ticked, from: scope) == .updated)
        let (_, reply) = try await Self.attempt(test).afterSignIn()
        #expect(try reply.consentPage.permissions.map(\.isTicked) == [false, false, true])
        #expect(
            try reply.html().contains(
                "<input type=\"checkbox\" name=\"permission.photos.write\" value=\"granted\" checked>"))
    }

    // UI-22, SEC-23: the last answer of the user counts, whatever the scope starts with.
    @Test(arguments: [true, false], [true, false])
    func `a box starts as the user has answered it before`(wasAllowed: Bool, startsTicked: Bool) async throws {
        let test = try await TestServer()
        let scope = try #require(try await test.store.scopes().first { $0.token.rawValue == "photos.write" })
        var changed = scope
        changed.startsTicked = startsTicked
        #expect(try await test.store.updateScope(changed, from: scope) == .updated)
        let attempt = try await Self.attempt(test)
        var (browser, reply) = try await attempt.afterSignIn()
        _ = try await browser.decide(.allow, on: reply, leavingOut: wasAllowed ? [] : ["photos.write"]).code
        reply = try await browser.open(attempt.url)
        #expect(try reply.consentPage.permissions.map(\.isTicked).last == wasAllowed)
        // What was allowed to a client of another look is no answer to this one.
        try await test.change(attempt.client) { $0.presentation.publisher = "Somebody Else" }
        reply = try await browser.open(attempt.url)
        #expect(try reply.consentPage.permissions.map(\.isTicked).last == false)
    }

    // R159, R321, UI-20; RFC 6749 §3.3 and §5.1: the token says what it is good for.
    @Test(arguments: [
        ([], "openid photos.read photos.write"), (["photos.write"], "openid photos.read"),
        // What is not optional stays, whatever the form says.
        (["photos.read", "openid"], "openid photos.read photos.write"),
    ])
    func `the token has what was not left out`(leavingOut: [String], granted: String) async throws {
        let test = try await TestServer()
        let attempt = try await Self.attempt(test)
        var (browser, reply) = try await attempt.afterSignIn()
        let code = try await browser.decide(.allow, on: reply, leavingOut: Set(leavingOut)).code
        let tokens = try await test.redeem(attempt.exchange(code)).tokenResponse
        #expect(tokens.scope?.description == granted)
        let consent = try #require(try await test.store.consent(of: test.alice.id, to: attempt.client.id))
        #expect(consent.scope.description == granted)
        #expect(consent.remembered.description == granted)
        reply = try await browser.open(attempt.url)
        #expect(try reply.consentPage.permissions.map(\.isNew) == [false, false, leavingOut == ["photos.write"]])
    }

    // RFC 6749 §3.3: a scope has at least one name.
    @Test func `who leaves out everything has allowed nothing`() async throws {
        let test = try await TestServer()
        let attempt = try await Self.attempt(
            test, for: "photos.read photos.write", optional: "photos.read photos.write")
        var (browser, reply) = try await attempt.afterSignIn()
        let answer = try await browser.decide(.allow, on: reply, leavingOut: ["photos.read", "photos.write"])
        #expect(try answer.redirectedError.code == .accessDenied)
        #expect(try await test.store.consent(of: test.alice.id, to: attempt.client.id) == nil)
    }

    // R067: a scope that was not asked for, or that does not exist, cannot be added through the form.
    @Test(arguments: ["photos.delete", "photos.write", "admin", "profile", ""])
    func `a form cannot add to what was asked`(scope: String) async throws {
        let test = try await TestServer()
        let attempt = try await Self.attempt(test, for: "photos.read", optional: "photos.write photos.delete")
        let (browser, reply) = try await attempt.afterSignIn()
        var sender = browser
        let page = try reply.consentPage
        let form = page.form(.allow).adding("permission.\(scope)", "granted").adding("scope", scope)
        let code = try await sender.submit(form, to: page.action).code
        #expect(try await test.redeem(attempt.exchange(code)).tokenResponse.scope?.description == "photos.read")
    }

    // A box says one thing, once.
    @Test(arguments: ["", "on", "Granted", "true"])
    func `anything but a ticked box leaves out`(value: String) async throws {
        let test = try await TestServer()
        let attempt = try await Self.attempt(test)
        let (browser, reply) = try await attempt.afterSignIn()
        var sender = browser
        let page = try reply.consentPage
        let form = page.form(.allow).setting("permission.photos.write", to: value)
        let code = try await sender.submit(form, to: page.action).code
        #expect(try await test.redeem(attempt.exchange(code)).tokenResponse.scope?.description == "openid photos.read")
        let twice = page.form(.allow).adding("permission.photos.write", "")
        #expect(try await sender.submit(twice, to: page.action).status == .badRequest)
    }
}
