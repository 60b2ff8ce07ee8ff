import CounterfoilProtocol
import Foundation
import TestSupport
import Testing

/// A client that receives the response as a form post (OAuth 2.0 Form Post Response Mode §2).
@Suite(.realBrowser, .oneStage, .serialized, .timeLimit(.minutes(15)))
struct FormPostJourneyTests {
    private static func request(_ stage: Stage, to party: RelyingPartyPage, _ more: String = "") -> String {
        stage.request(scope: "openid photos.read", redirectURI: party.address) + "&response_mode=form_post" + more
    }

    /// Waits for the response to the client and returns its parameters.
    private static func answer(at party: RelyingPartyPage) async throws -> [String: String] {
        let request = try await Waiting.until("a form") { party.requests.first }
        #expect(request.head.hasPrefix("POST /callback HTTP/1.1\r\n"))
        // RFC 9700 §4.2.4
        #expect(!request.head.lowercased().contains("\r\nreferer:"))
        let form = try FormParameters(parsing: request.body)
        return Dictionary(form.pairs.map { ($0.name, $0.value) }, uniquingKeysWith: { $0 + " " + $1 })
    }

    // The page submits its form automatically, and its own security policy allows that.
    @Test func `the response is posted to the app's page automatically`() async throws {
        try await Stage.enter { stage in
            let browser = stage.browser
            try await RelyingPartyPage.run { party in
                try await browser.navigate(to: Self.request(stage, to: party))
                try await stage.signIn(as: .alice)
                try await browser.waitForElement("[value=allow]").click()
                try await stage.arrive(at: "Welcome to Prints")
                // The response does not appear in a URL.
                #expect(try await browser.currentURL == party.address)
                let answer = try await Self.answer(at: party)
                #expect(Set(answer.keys) == ["code", "state", "iss"])
                #expect(answer["code"]?.count == 43)
                #expect(answer["state"] == "a-state")
                #expect(answer["iss"] == stage.site.issuer)
                #expect(party.requests.count == 1)
            }
            try await stage.expectNoComplaints()
        }
    }

    // An error response is posted too, without a visible page.
    @Test func `an error response is posted as well`() async throws {
        try await Stage.enter { stage in
            try await RelyingPartyPage.run { party in
                try await stage.browser.navigate(to: Self.request(stage, to: party, "&prompt=none"))
                try await stage.arrive(at: "Welcome to Prints")
                #expect(try await Self.answer(at: party)["error"] == "login_required")
            }
            try await stage.expectNoComplaints()
        }
    }

    // Without scripts the user presses the button.
    @Test func `without JavaScript a button posts the response`() async throws {
        try await Stage.enter { stage in
            let browser = stage.browser
            try await browser.allowScripts(false)
            try await RelyingPartyPage.run { party in
                try await browser.navigate(to: Self.request(stage, to: party))
                try await stage.signIn(as: .alice)
                try await browser.waitForElement("[value=allow]").click()
                try await stage.arrive(at: "Back to Lightbox")
                #expect(try await PageAudit.findings(in: browser) == [])
                #expect(party.requests.isEmpty)
                let button = try await browser.find("form button")
                #expect(try await button.accessibleName == "Continue to Lightbox")
                try await button.click()
                try await stage.arrive(at: "Welcome to Prints")
                let answer = try await Self.answer(at: party)
                #expect(answer["code"]?.count == 43 && answer["state"] == "a-state")
            }
            try await stage.expectNoComplaints()
        }
    }

    // OpenID Connect RP-Initiated Logout §2: a form of another site is sent without the cookie.
    // The form of the server's own page is sent with it.
    @Test func `a logout request that another site posts needs no click`() async throws {
        try await Stage.enter { stage in
            try await stage.open("/account", as: .alice)
            let form = "<title>off</title><form method=post action=\(stage.site.issuer)/oauth2/logout></form>"
            try await stage.browser.navigate(to: "data:text/html,\(form)<script>document.forms[0].submit()</script>")
            _ = try await stage.browser.waitForElement("[value=sign-out]")
            try await stage.expectNoComplaints()
        }
    }
}
