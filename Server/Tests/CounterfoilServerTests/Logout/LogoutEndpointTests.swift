import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

struct LogoutEndpointTests {
    private static func query(_ parameters: KeyValuePairs<String, String>) -> String {
        "/oauth2/logout?" + FormParameters(parameters).encoded
    }

    // OpenID Connect RP-Initiated Logout §2
    @Test func `an expired hint is accepted`() async throws {
        let party = try await RelyingParty()
        var browser = party.test.browser()
        let hint = try #require(try await party.tokens(party.attempt(), in: &browser).idToken).exposed
        party.test.clock.advance(by: 4 * 3600)
        let reply = try await browser.open(
            Self.query(["id_token_hint": hint, "post_logout_redirect_uri": RelyingParty.afterLogout]))
        #expect(reply.location == RelyingParty.afterLogout)
    }

    // A token of another session of the same user does not end this one without confirmation.
    @Test func `a hint of another session needs confirmation`() async throws {
        let party = try await RelyingParty()
        var elsewhere = party.test.browser()
        let hint = try #require(try await party.tokens(party.attempt(), in: &elsewhere).idToken).exposed
        var browser = party.test.browser()
        _ = try await party.tokens(party.attempt(), in: &browser)
        let reply = try await browser.open(
            Self.query(["id_token_hint": hint, "post_logout_redirect_uri": RelyingParty.afterLogout]))
        let page = try reply.signOutPage
        #expect(page.clientName == "Relying Party")
        let done = try await browser.submit(
            FormParameters(["request": page.request, "ticket": page.ticket, "decision": "sign-out"]), to: page.action)
        // The request was a POST, so a page continues instead of a redirect.
        #expect(done.status == .ok)
        #expect(try done.signedOutPage.destination == RelyingParty.afterLogout)
        #expect(try done.signedOutPage.continuesAutomatically)
    }

    // `client_id` must be the client of the ID token.
    @Test func `a hint of another client redirects nowhere`() async throws {
        let party = try await RelyingParty()
        var browser = party.test.browser()
        let hint = try #require(try await party.tokens(party.attempt(), in: &browser).idToken).exposed
        let reply = try await browser.open(
            Self.query([
                "id_token_hint": hint, "client_id": party.test.lightbox.id.rawValue,
                "post_logout_redirect_uri": RelyingParty.afterLogout,
            ]))
        #expect(try reply.signOutPage.clientName == nil)
    }

    // OpenID Connect RP-Initiated Logout §3: the user is signed out, and the developer reads why nothing follows.
    @Test func `a refused post_logout_redirect_uri is named on the page and in the log`() async throws {
        let party = try await RelyingParty()
        let mistyped = "https://rp.example.com/<bye>"
        let id = party.client.id.rawValue
        var browser = party.test.browser()
        let hint = try #require(try await party.tokens(party.attempt(), in: &browser).idToken).exposed
        let reply = try await browser.open(
            Self.query(["id_token_hint": hint, "post_logout_redirect_uri": mistyped]))
        let page = try reply.signedOutPage
        #expect(page.destination == nil)
        let section = try #require(page.developer)
        #expect(section.clientID == id)
        #expect(section.redirectURI == mistyped)
        #expect(section.advice?.contains("--post-logout-redirect-uri") == true)
        #expect(section.settings == "/apps/\(id)/edit")
        let html = try reply.html()
        #expect(html.contains("https://rp.example.com/&lt;bye&gt;") && !html.contains("<bye>"))
        let line = try #require(party.test.log.lines.first { $0.contains("did not redirect to post_logout") })
        #expect(line.hasPrefix("notice "))
        #expect(line.contains(id) && line.contains("rp.example.com"))
        // A request that identifies no client says so, and a good one or none has no section.
        let unnamed = try await browser.open(Self.query(["post_logout_redirect_uri": RelyingParty.afterLogout]))
        #expect(try unnamed.signedOutPage.developer?.advice?.contains("id_token_hint") == true)
        #expect(try unnamed.signedOutPage.developer?.settings == nil)
        #expect(try await browser.open("/oauth2/logout").signedOutPage.developer == nil)
        let good = try await browser.open(
            Self.query(["client_id": id, "post_logout_redirect_uri": RelyingParty.afterLogout]))
        #expect(try good.signedOutPage.developer == nil)
    }

    // A URL that some page loads signs no user out.
    @Test func `a GET from another site signs no user out`() async throws {
        let party = try await RelyingParty()
        var browser = party.test.browser()
        _ = try await party.tokens(party.attempt(), in: &browser)
        let site = try HTTPField.Name.named("Sec-Fetch-Site")
        let reply = try await browser.send(.get, to: "/oauth2/logout", fields: [site: "cross-site"])
        _ = try reply.signOutPage
        #expect(reply.cookies.isEmpty)
        #expect(try await browser.open("/account").accountPage.console.userDisplayName == "Alice")
    }

    // The decision needs the ticket of the page, in this session.
    @Test func `a user is asked again after a decision without the ticket of the page`() async throws {
        let party = try await RelyingParty()
        var browser = party.test.browser()
        _ = try await party.tokens(party.attempt(), in: &browser)
        var other = party.test.browser()
        _ = try await party.tokens(party.attempt(), in: &other)
        let page = try await other.open("/oauth2/logout").signOutPage
        for ticket in ["", "x", page.ticket] {
            for decision in ["sign-out", "stay"] {
                let reply = try await browser.submit(
                    FormParameters(["request": page.request, "ticket": ticket, "decision": decision]), to: page.action)
                #expect(try reply.signOutPage.userDisplayName == "Alice")
                #expect(reply.cookies.isEmpty)
            }
        }
        #expect(try await browser.open("/account").status == .ok)
    }

    @Test func `a user who stays keeps the session`() async throws {
        let party = try await RelyingParty()
        var browser = party.test.browser()
        _ = try await party.tokens(party.attempt(), in: &browser)
        let page = try await browser.open("/oauth2/logout").signOutPage
        let reply = try await browser.submit(
            FormParameters(["request": page.request, "ticket": page.ticket, "decision": "stay"]), to: page.action)
        _ = try reply.accountPage
    }

    /// The location of the parameters of a POST.
    enum ParameterLocation: CaseIterable { case form, query }

    /// Posts a logout request from a page of another site, for which the browser omits the SameSite cookies.
    private static func post(
        _ parameters: FormParameters, in parameterLocation: ParameterLocation, from browser: inout ScriptedUserAgent
    ) async throws -> SignOutPage {
        let cookies = browser.cookies
        browser.cookies = [:]
        let site = try HTTPField.Name.named("Sec-Fetch-Site")
        let reply =
            switch parameterLocation {
            case .form:
                try await browser.send(.post, to: "/oauth2/logout", form: parameters, fields: [site: "cross-site"])
            case .query:
                try await browser.send(
                    .post, to: "/oauth2/logout?" + parameters.encoded, fields: [site: "cross-site"])
            }
        browser.cookies = cookies
        // No URL of the response contains any part of the request.
        #expect(reply.status == .ok)
        #expect(reply.location == nil)
        let page = try reply.signOutPage
        #expect(page.userDisplayName == nil)
        #expect(page.ticket.isEmpty)
        #expect(page.action == "/oauth2/logout/answer")
        return page
    }

    /// The form that the page submits automatically.
    private static func proceed(from page: SignOutPage) -> FormParameters {
        FormParameters(["request": page.request, "decision": "ask"])
    }

    // POST; a form from another site comes without the cookie. A page of the server posts it again
    // with the cookie: the ID token of the hint is never in a URL.
    @Test(arguments: ParameterLocation.allCases)
    func `a form of the client is accepted`(parameterLocation: ParameterLocation) async throws {
        let party = try await RelyingParty()
        var browser = party.test.browser()
        let hint = try #require(try await party.tokens(party.attempt(), in: &browser).idToken).exposed
        let form = FormParameters(["id_token_hint": hint, "post_logout_redirect_uri": RelyingParty.afterLogout])
        let page = try await Self.post(form, in: parameterLocation, from: &browser)
        #expect(page.clientName == "Relying Party")
        let done = try await browser.send(.post, to: page.action, form: Self.proceed(from: page))
        #expect(done.location == nil)
        #expect(try done.signedOutPage.destination == RelyingParty.afterLogout)
        #expect(try done.signedOutPage.continuesAutomatically)
        #expect(browser.cookies.keys.contains { $0.hasSuffix("session") } == false)
    }

    // With the cookie, a request without a hint needs confirmation as always.
    @Test(arguments: ParameterLocation.allCases)
    func `a form without a hint needs confirmation`(parameterLocation: ParameterLocation) async throws {
        let party = try await RelyingParty()
        var browser = party.test.browser()
        _ = try await party.tokens(party.attempt(), in: &browser)
        let form = FormParameters(["client_id": party.client.id.rawValue, "state": "s"])
        let page = try await Self.post(form, in: parameterLocation, from: &browser)
        let question = try await browser.send(.post, to: page.action, form: Self.proceed(from: page)).signOutPage
        #expect(question.userDisplayName == "Alice")
        #expect(question.request == page.request)
        let done = try await browser.submit(
            FormParameters(["request": question.request, "ticket": question.ticket, "decision": "sign-out"]),
            to: question.action)
        #expect(try done.signedOutPage.destination == nil)
    }

    @Test func `a form without a session redirects automatically only with an ID token`() async throws {
        let party = try await RelyingParty()
        let hint = try #require(try await party.tokens().idToken).exposed
        var browser = party.test.browser()
        for (parameters, continuesAutomatically) in [
            (FormParameters(["id_token_hint": hint]), true),
            (FormParameters(["client_id": party.client.id.rawValue]), false),
        ] {
            let form = parameters.adding("post_logout_redirect_uri", RelyingParty.afterLogout)
            let page = try await Self.post(form, in: .form, from: &browser)
            let done = try await browser.send(.post, to: page.action, form: Self.proceed(from: page)).signedOutPage
            #expect(done.destination == RelyingParty.afterLogout)
            #expect(done.continuesAutomatically == continuesAutomatically)
        }
    }

    // No other page can send the form that the server's page sends.
    @Test func `the form that the server's page sends is refused from another site`() async throws {
        let party = try await RelyingParty()
        var browser = party.test.browser()
        let hint = try #require(try await party.tokens(party.attempt(), in: &browser).idToken).exposed
        let form = FormParameters([
            "request": FormParameters(["id_token_hint": hint]).encoded, "decision": "ask",
        ])
        let site = try HTTPField.Name.named("Sec-Fetch-Site")
        let reply = try await browser.send(
            .post, to: "/oauth2/logout/answer", form: form, fields: [site: "cross-site"])
        #expect(reply.status == .forbidden)
        #expect(try await browser.open("/account").status == .ok)
    }

    // A URL alone redirects no user (RFC 9700 §4.11.2).
    @Test func `without a session there is a page, and a redirect only with an ID token of this server`() async throws {
        let party = try await RelyingParty()
        let hint = try #require(try await party.tokens().idToken).exposed
        var browser = party.test.browser()
        #expect(try await browser.open("/oauth2/logout").signedOutPage.destination == nil)
        let named = try await browser.open(
            Self.query([
                "client_id": party.client.id.rawValue, "post_logout_redirect_uri": RelyingParty.afterLogout,
            ])
        ).signedOutPage
        #expect(named.destination == RelyingParty.afterLogout)
        #expect(!named.continuesAutomatically)
        let reply = try await browser.open(
            Self.query(["id_token_hint": hint, "post_logout_redirect_uri": RelyingParty.afterLogout]))
        #expect(reply.location == RelyingParty.afterLogout)
    }

    @Test func `the cookie of an ended session is invalid`() async throws {
        let party = try await RelyingParty()
        var browser = party.test.browser()
        let hint = try #require(try await party.tokens(party.attempt(), in: &browser).idToken).exposed
        var thief = browser
        #expect(try await browser.open(Self.query(["id_token_hint": hint])).signedOutPage.destination == nil)
        #expect(
            try await thief.open(party.attempt(with: ["prompt": "none"]).url).redirectedError.code == .loginRequired)
    }

    // The rule of RFC 6749 §3.1.
    @Test func `a repeated parameter is refused on a page`() async throws {
        let party = try await RelyingParty()
        var browser = party.test.browser()
        let reply = try await browser.open("/oauth2/logout?state=a&state=b")
        #expect(reply.status == .badRequest)
        _ = try reply.problemPage
    }
}
