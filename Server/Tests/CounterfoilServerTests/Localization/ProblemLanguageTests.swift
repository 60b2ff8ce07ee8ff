import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import HTTPTypes
import Testing

/// Pages about problems, in the language of the user.
struct ProblemLanguageTests {
    // RFC 6749 §4.1.2.1: for every reason, no sentence of another language is on the page.
    @Test(arguments: [
        ("de", "Parameter client_id fehlt."), ("nb", "Parameteren client_id mangler."),
        ("fr", "le paramètre client_id est absent."), ("es", "falta el parámetro client_id."),
    ])
    func `a request without a client shows a page in the language of the user`(
        language: String, reason: String
    ) async throws {
        let test = try await TestServer()
        let reply = try await Attempt(test).with("client_id", nil).with("ui_locales", language).firstReply()
        let explanation = try reply.problemPage.explanation
        #expect(explanation.contains(reason))
        #expect(!explanation.contains("The "))
    }

    // Each of the reasons without a redirect.
    @Test func `no reason without a redirect is left in English`() async throws {
        let test = try await TestServer()
        let robot = try await test.register("Robot", type: .service, redirectURIs: [])
        let attempts = [
            (Attempt(test).with("client_id", "app_nobody"), "Es gibt keine App mit der client_id der Anfrage"),
            (Attempt(test).with("client_id", "é"), "Der Parameter client_id ist keine Kennung einer App."),
            (
                Attempt(test).adding("client_id", "app_lightbox"),
                "Der Parameter client_id ist mehr als einmal angegeben."
            ),
            (Attempt(test, by: robot, at: nil), "der niemanden mit einem Browser anmeldet."),
        ]
        for (attempt, reason) in attempts {
            let page = try await attempt.with("ui_locales", "de").firstReply().problemPage
            #expect(page.explanation.contains(reason))
            #expect(page.title.hasPrefix("Die Anfrage ") && page.title.hasSuffix(" kann nicht angenommen werden"))
        }
        let long = Attempt(test).with("ui_locales", "de").with("login_hint", String(repeating: "x", count: 30 * 1024))
        #expect(try await long.firstReply().problemPage.explanation.contains("Die Parameter sind länger als"))
    }

    // The client is named if it is known; the service is always named.
    @Test(arguments: [
        (
            "redirect_uri", "https://elsewhere.example/cb", "Lightbox sent a request we can't accept",
            "Go back to Lightbox"
        ),
        ("client_id", "app_nobody", "This app sent a request we can't accept", "Go back to the app"),
    ])
    func `the page of a problem names the client and the service`(
        parameter: String, value: String, title: String, advice: String
    ) async throws {
        let reply = try await Attempt(try await TestServer()).with(parameter, value).firstReply()
        let page = try reply.problemPage
        #expect(page.title == title)
        #expect(page.advice.hasPrefix(advice))
        #expect(try reply.html().contains("<b><bdi>Example Photos</bdi></b>"))
    }

    // An invalid form is reported in the language of the user, and in the log in English.
    @Test(arguments: [
        ("username=%zz", "ne sont pas correctement encodés"), ("ticket=a&ticket=b", "Le paramètre ticket est indiqué"),
    ])
    func `an invalid form is reported in the language of the user`(body: String, reason: String) async throws {
        let test = try await TestServer()
        var browser = test.browser()
        _ = try await browser.open("/sign-in")
        let cookie = browser.cookies.map { "\($0.key)=\($0.value)" }.joined(separator: "; ")
        let reply = await test.send(
            .post, to: .consoleSignIn,
            fields: [
                .contentType: "application/x-www-form-urlencoded", .acceptLanguage: "fr", .cookie: cookie,
                try .named("Sec-Fetch-Site"): "same-origin",
            ],
            body: Array(body.utf8))
        #expect(try reply.problemPage.explanation.contains(reason))
    }

    // An authorization request may be a form (RFC 6749 §3.1), and no other content type.
    @Test func `a request that is not a form is reported in the language of the user`() async throws {
        let test = try await TestServer()
        let reply = await test.send(
            .post, to: .authorization, query: "ui_locales=nb", fields: [.contentType: "application/json"],
            body: Array("{}".utf8))
        #expect(
            try reply.problemPage.explanation.contains(
                "Innholdet må være application/x-www-form-urlencoded i UTF-8."))
    }

    // Every page leads somewhere.
    @Test func `an unknown page leads to the account`() async throws {
        let test = try await TestServer(issuer: "https://id.example.com/tenant")
        var browser = test.browser()
        try await browser.signInToConsole(username: "alice")
        browser.fields = [.acceptLanguage: "es"]
        let page = try await browser.open("/tenant/account/apps/app_nobody").problemPage
        #expect(page.status == 404)
        #expect(page.continueLink == .init(address: "/tenant/account", title: "Ir a tu cuenta"))
    }

    // The advice fits every form with more than one button.
    @Test func `a form without a decision gets advice on any page`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        let first = try await browser.open(Attempt(test).url)
        let consent = try await browser.signIn(on: first, username: "alice", password: TestServer.password).consentPage
        let form = consent.form(.allow).setting("decision", to: nil)
        let page = try await browser.submit(form, to: consent.action).problemPage
        #expect(page.advice == "Go back and press one of the buttons on the page.")
    }
}
