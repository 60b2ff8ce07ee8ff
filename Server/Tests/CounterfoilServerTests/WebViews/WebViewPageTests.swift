import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// The pages inside an app's web view, by the policy of the client.
struct WebViewPageTests {
    private static let android =
        "Mozilla/5.0 (Linux; Android 14; Pixel 8 Build/UQ1A.240205.002; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/122.0.6261.64 Mobile Safari/537.36"
    private static let iPhone =
        "Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148"
    private static let oldIPhone =
        "Mozilla/5.0 (iPhone; CPU iPhone OS 16_7_2 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148"
    private static let safari =
        "Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Mobile/15E148 Safari/604.1"

    // RFC 8252 §8.12: the page offers the same request in the browser.
    @Test(arguments: [
        (
            android,
            "intent://id.example.com/oauth2/authorize?QUERY#Intent;scheme=https;action=android.intent.action.VIEW;end"
        ),
        (iPhone, "x-safari-https://id.example.com/oauth2/authorize?QUERY"), (oldIPhone, nil),
    ])
    func `a native app's web view is blocked with a link to the browser`(userAgent: String, way: String?)
        async throws
    {
        let test = try await TestServer()
        let attempt = Attempt(test)
        var webView = test.browser()
        webView.fields = [.userAgent: userAgent]
        let reply = try await webView.open(attempt.url)
        #expect(reply.status == .forbidden)
        #expect(reply.cookies.isEmpty)
        let page = try reply.webViewPage
        #expect(page.clientName == "Lightbox")
        #expect(page.openInBrowserLink.address == "https://id.example.com/oauth2/authorize?" + attempt.request.encoded)
        #expect(page.openInBrowserLink.opening == way?.replacing("QUERY", with: attempt.request.encoded))
        let html = try reply.html()
        #expect(html.contains("Open this page in your browser"))
        #expect(!html.contains("type=\"password\""))
        #expect(html.contains("class=\"button primary\"") == (way != nil))

        var browser = test.browser()
        browser.fields = [.userAgent: Self.safari]
        #expect(try await browser.open(page.openInBrowserLink.address).signInPage.clientName == "Lightbox")
    }

    // The forms too, so that a page cannot be opened in a browser and submitted from a web view.
    @Test func `forms from a web view are refused`() async throws {
        let test = try await TestServer()
        let attempt = Attempt(test)
        var browser = test.browser()
        let signIn = try await browser.open(attempt.url)
        browser.fields = [.userAgent: Self.android]
        let refused = try await browser.signIn(on: signIn, username: "alice", password: TestServer.password)
        #expect(refused.status == .forbidden)
        #expect(try refused.webViewPage.openInBrowserLink.address.hasPrefix("https://id.example.com/oauth2/authorize?"))
        #expect(refused.cookies.isEmpty)

        browser.fields = [:]
        let consent = try await browser.signIn(on: signIn, username: "alice", password: TestServer.password)
        browser.fields = [.userAgent: Self.android]
        #expect(try await browser.open(attempt.url).status == .forbidden)
        for decision in [ScriptedUserAgent.Decision.allow, .deny] {
            #expect(try await browser.decide(decision, on: consent).webViewPage.clientName == "Lightbox")
        }
        browser.fields = [:]
        #expect(try await browser.decide(.allow, on: consent).code.exposed.utf8.count == 43)
    }

    // The policy of the administrator decides; with or without a warning, the request continues.
    @Test(arguments: [(WebViewPolicy.warn, true), (.allow, false)])
    func `a client may be allowed to use its web view`(policy: WebViewPolicy, isWarned: Bool) async throws {
        let test = try await TestServer()
        try await test.change(test.lightbox) { $0.policy.webViews = policy }
        let attempt = Attempt(test)
        var webView = test.browser()
        webView.fields = [.userAgent: Self.android]
        let signIn = try await webView.open(attempt.url)
        let wrong = try await webView.signIn(on: signIn, username: "alice", password: "wrong")
        let consent = try await webView.signIn(on: signIn, username: "alice", password: TestServer.password)
        for reply in [signIn, wrong, consent] {
            let html = try reply.html()
            #expect(html.contains("which could see what you type") == isWarned)
            // The warning offers a link to the browser, and a URL to copy.
            #expect(html.contains("href=\"intent://id.example.com/oauth2/authorize?") == isWarned)
            #expect(html.contains("\nhttps://id.example.com/oauth2/authorize?") == isWarned)
        }
        let way = OpenInBrowserLink(
            address: attempt.url,
            opening: attempt.url.replacing("https://", with: "intent://")
                + "#Intent;scheme=https;action=android.intent.action.VIEW;end")
        #expect(try signIn.signInPage.openInBrowserLink == (isWarned ? way : nil))
        #expect(try consent.consentPage.openInBrowserLink == (isWarned ? way : nil))
        #expect(try await webView.decide(.allow, on: consent).code.exposed.utf8.count == 43)
    }

    // The console's sign-in page warns as well; no client policy applies to it.
    @Test(arguments: [(android, true), (safari, false)])
    func `signing in to the console inside a web view shows a warning`(userAgent: String, isWarned: Bool) async throws {
        let test = try await TestServer()
        var browser = test.browser()
        browser.fields = [.userAgent: userAgent]
        let first = try await browser.open("/sign-in?to=/account/sessions")
        let wrong = try await browser.signIn(on: first, username: "alice", password: "wrong")
        for reply in [first, wrong] {
            let way = OpenInBrowserLink(
                address: "https://id.example.com/account/sessions",
                opening: "intent://id.example.com/account/sessions#Intent;scheme=https;"
                    + "action=android.intent.action.VIEW;end")
            #expect(try reply.signInPage.openInBrowserLink == (isWarned ? way : nil))
            #expect(try reply.html().contains("You opened this page inside an app") == isWarned)
        }
        let account = try await browser.signIn(on: first, username: "alice", password: TestServer.password)
        #expect(account.status == .ok)
    }

    // In a browser there is no warning, and a response without a page needs no browser.
    @Test func `neither a browser nor a response without a page is blocked or warned`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        browser.fields = [.userAgent: Self.safari]
        let reply = try await browser.open(Attempt(test).url)
        #expect(try reply.signInPage.openInBrowserLink == nil)
        browser.fields = [.userAgent: Self.android]
        let silent = try await browser.open(Attempt(test).with("prompt", "none").url)
        #expect(try silent.redirectedError.code == .loginRequired)
    }

    // Android's web view that claims to be Chrome still names the app around it.
    @Test func `a web view is detected by the app that it names`() async throws {
        let test = try await TestServer()
        var webView = test.browser()
        webView.fields = [
            .userAgent:
                "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36",
            try .named("X-Requested-With"): "com.example.lightbox",
        ]
        #expect(try await webView.open(Attempt(test).url).status == .forbidden)
    }

    // All values of a request and all names are escaped on the page.
    @Test func `a malicious request is escaped on the page for web views`() async throws {
        let test = try await TestServer()
        let client = try await test.register("<b>\"x\u{202E}", redirectURIs: ["https://app.example/cb"])
        let attempt = Attempt(test, by: client, at: "https://app.example/cb")
            .with("state", "</textarea><script>\"'#Intent;component=evil;end")
        var webView = test.browser()
        webView.fields = [.userAgent: Self.android]
        let reply = try await webView.open(attempt.url)
        let html = try reply.html()
        #expect(!html.contains("<script") && !html.contains("<b>\"x"))
        #expect(html.matches(of: /<\/textarea>/).count == 1)
        #expect(try reply.webViewPage.openInBrowserLink.opening?.matches(of: /#/).count == 1)
    }
}
