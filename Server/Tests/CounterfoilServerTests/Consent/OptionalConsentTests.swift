@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// Optional permissions: what the user leaves out is not granted, and no form can add any.
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

    // Only optional scopes have check boxes.
    @Test func `an optional permission has a check box that is clear at first`() async throws {
        let test = try await TestServer()
        let (_, reply) = try await Self.attempt(test).afterSignIn()
        #expect(try reply.consentPage.permissions.map(\.required) == [true, true, false])
        let html = try reply.html()
        #expect(html.matches(of: /type="checkbox"/).count == 1)
        #expect(html.contains("<input type=\"checkbox\" name=\"permission.photos.write\" value=\"granted\">"))
        #expect(html.contains("Select what you want to share."))
    }

    // CJEU C-673/17: a preselected check box is the responsibility of the operator.
    @Test func `an administrator can have the check box of a scope preselected`() async throws {
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

    // The user's last decision is preselected, whatever the default of the scope.
    @Test(arguments: [true, false], [true, false])
    func `a check box starts with the user's last decision`(wasAllowed: Bool, startsTicked: Bool) async throws {
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
        // A decision about a client that looked different does not count.
        try await test.change(attempt.client) { $0.presentation.publisher = "Somebody Else" }
        reply = try await browser.open(attempt.url)
        #expect(try reply.consentPage.permissions.map(\.isTicked).last == false)
    }

    // RFC 6749 §3.3 and §5.1: the token response states the granted scope.
    @Test(arguments: [
        ([], "openid photos.read photos.write"), (["photos.write"], "openid photos.read"),
        // Scopes that are not optional are granted, whatever the form contains.
        (["photos.read", "openid"], "openid photos.read photos.write"),
    ])
    func `the token has the scopes that were not left out`(leavingOut: [String], granted: String) async throws {
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
        #expect(
            try reply.consentPage.permissions.map(\.isNew)
                == (leavingOut == ["photos.write"] ? [true] : [false, false, false]))
    }

    // RFC 6749 §3.3: a scope has at least one token.
    @Test func `a user who leaves out everything grants nothing`() async throws {
        let test = try await TestServer()
        let attempt = try await Self.attempt(
            test, for: "photos.read photos.write", optional: "photos.read photos.write")
        var (browser, reply) = try await attempt.afterSignIn()
        let answer = try await browser.decide(.allow, on: reply, leavingOut: ["photos.read", "photos.write"])
        #expect(try answer.redirectedError.code == .accessDenied)
        #expect(try await test.store.consent(of: test.alice.id, to: attempt.client.id) == nil)
    }

    // A form cannot add a scope that was not requested or does not exist.
    @Test(arguments: ["photos.delete", "photos.write", "admin", "profile", ""])
    func `a form cannot extend the requested scope`(scope: String) async throws {
        let test = try await TestServer()
        let attempt = try await Self.attempt(test, for: "photos.read", optional: "photos.write photos.delete")
        let (browser, reply) = try await attempt.afterSignIn()
        var sender = browser
        let page = try reply.consentPage
        let form = page.form(.allow).adding("permission.\(scope)", "granted").adding("scope", scope)
        let code = try await sender.submit(form, to: page.action).code
        #expect(try await test.redeem(attempt.exchange(code)).tokenResponse.scope?.description == "photos.read")
    }

    // A check box has one value, once.
    @Test(arguments: ["", "on", "Granted", "true"])
    func `any other value of a check box means left out`(value: String) async throws {
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
