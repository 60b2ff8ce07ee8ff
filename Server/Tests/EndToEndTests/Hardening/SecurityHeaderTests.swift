import CounterfoilProtocol
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// The header fields of every response.
@Suite(.timeLimit(.minutes(10)))
struct SecurityHeaderTests {
    @Test func `every response forbids framing, sniffing, referrers and foreign content`() async throws {
        try await Site.run { site, clientID in
            let request = ClientAuthorizationRequest(site, clientID)
            var browser = UserAgent()
            let signIn = try await browser.open(request.url)
            let consent = try await Account.alice.fillIn(signIn, in: &browser)
            let proceed = try await browser.submit(try consent.form(withButton: "allow"), ["decision": "allow"])
            let stylesheet = try #require(
                signIn.body.firstMatch(of: /<link rel="stylesheet" href="([^"]+)">/)?.output.1)
            let issuer = site.issuer
            let authorize = issuer + "/oauth2/authorize"
            let answers: [(Int, WebPage)] = [
                (200, signIn), (200, consent), (200, proceed),
                (400, try await browser.send(.get, authorize)),
                (303, try await browser.send(.get, request.url + "&prompt=none%20login")),
                (403, try await browser.send(.post, authorize + "/consent", form: FormParameters())),
                (404, try await browser.send(.get, issuer + "/nothing")),
                (404, try await browser.send(.get, issuer + "/setup")),
                (405, try await browser.send(.delete, authorize)),
                (405, try await browser.send(.get, authorize + "/consent")),
                (405, try await browser.send(.get, issuer + "/oauth2/token")),
                (405, try await browser.send(.post, site.origin + String(stylesheet), form: FormParameters())),
                (200, try await browser.send(.get, site.origin + String(stylesheet))),
                (400, try await browser.send(.post, issuer + "/oauth2/token", form: FormParameters())),
                (413, try await browser.send(.post, authorize, body: Array(repeating: 0x61, count: 40_000))),
                (414, try await browser.send(.get, authorize + "?x=" + String(repeating: "a", count: 40_000))),
                (200, try await browser.send(.get, issuer + "/oauth2/jwks")),
                (200, try await browser.send(.get, issuer + "/livez")),
            ]
            #expect(Set(answers.map { $0.1.header("x-request-id") ?? "" }).count == answers.count)
            for (status, answer) in answers {
                let what = "\(answer.url.prefix(80)) \(answer.status)"
                #expect(answer.status == status, "\(what)")
                let policy = try #require(answer.header("content-security-policy"), "\(what)")
                for rule in ["default-src 'none'", "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'"] {
                    #expect(policy.contains(rule), "\(what)")
                }
                #expect(!policy.contains("unsafe"), "\(what)")
                #expect(!policy.contains("script-src"), "\(what)")
                #expect(answer.header("x-frame-options") == "DENY", "\(what)")
                #expect(answer.header("x-content-type-options") == "nosniff", "\(what)")
                #expect(answer.header("referrer-policy") == "no-referrer", "\(what)")
                // A single-page app may have opened an authorization in a popup, which has to report to it at the end.
                let isInPopup = answer.url.hasPrefix(authorize) && status != 414
                #expect(
                    answer.header("cross-origin-opener-policy") == (isInPopup ? "unsafe-none" : "same-origin"),
                    "\(what)")
                #expect(answer.header("server") == nil, "\(what)")
                #expect(answer.header("cache-control") != nil, "\(what)")
                #expect(answer.header("strict-transport-security") == nil, "\(what)")
            }
        }
    }

    // Console pages have the same header fields, allow only the server's own script, and are not stored.
    // Responses to forged forms and to users who are not signed in are not stored either.
    @Test func `every response of the console has the same headers, and is not stored`() async throws {
        try await Site.run { site, clientID in
            let ada = ["user", "create", "ada", "--role", "owner", "--password-stdin"]
            #expect(try await site.administer(ada, input: Account.alice.password + "\n").status == 0)
            var browser = UserAgent()
            let signIn = try await browser.open(site.issuer + "/sign-in?to=/admin")
            _ = try await browser.submit(
                try signIn.form(with: "password"), ["username": "ada", "password": Account.alice.password])
            let policy = """
                default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; \
                frame-ancestors 'none'
                """
            var answers: [(Int, String, WebPage)] = [(200, policy, signIn)]
            var stranger = UserAgent()
            for path in [
                "/account", "/account/sessions", "/account/password", "/apps", "/apps/new", "/apps/\(clientID)",
                "/apps/\(clientID)/edit", "/apps/\(clientID)/policy", "/admin", "/admin/branding",
            ] {
                let page = try await browser.send(.get, site.issuer + path)
                answers.append((200, policy + "; script-src 'self'; connect-src 'self'", page))
                answers.append((303, policy, try await stranger.send(.get, site.issuer + path)))
                // The others accept a form at their own path that is not an upload.
                guard !["/account", "/apps", "/admin", "/apps/\(clientID)", "/admin/branding"].contains(path) else {
                    continue
                }
                let forged = try await browser.send(.post, site.issuer + path, form: FormParameters())
                answers.append((403, policy, forged))
            }
            for (status, policy, answer) in answers {
                let what = "\(answer.url.prefix(80)) \(answer.status)"
                #expect(answer.status == status, "\(what)")
                #expect(answer.header("content-security-policy") == policy, "\(what)")
                #expect(answer.header("x-frame-options") == "DENY", "\(what)")
                #expect(answer.header("x-content-type-options") == "nosniff", "\(what)")
                #expect(answer.header("referrer-policy") == "no-referrer", "\(what)")
                #expect(answer.header("cross-origin-opener-policy") == "same-origin", "\(what)")
                #expect(answer.header("cache-control") == "no-store", "\(what)")
            }
        }
    }

    // RFC 9700 §2.6: other origins cannot read the authorization endpoint.
    // If all clients are native, they cannot read the token endpoint either.
    @Test func `no other origin may read the responses to a user or a client`() async throws {
        try await Site.run { site, clientID in
            let elsewhere = ["origin": "https://evil.example", "access-control-request-method": "POST"]
            var agent = UserAgent()
            for path in [
                "/oauth2/authorize", "/oauth2/authorize/sign-in", "/oauth2/authorize/consent", "/oauth2/token",
            ] {
                for method in [HTTPRequest.Method.get, .post, .options] {
                    let answer = try await agent.send(
                        method, site.issuer + path, headers: elsewhere,
                        form: ClientAuthorizationRequest(site, clientID).parameters)
                    let names = answer.headers.map(\.name)
                    #expect(!names.contains { $0.hasPrefix("access-control-") }, "\(method) \(path)")
                }
            }
        }
    }

    @Test func `personal responses are never stored by a browser`() async throws {
        try await Site.run { site, clientID in
            let request = ClientAuthorizationRequest(site, clientID)
            var browser = UserAgent()
            let signIn = try await browser.open(request.url)
            let consent = try await Account.alice.fillIn(signIn, in: &browser)
            let proceed = try await browser.submit(try consent.form(withButton: "allow"), ["decision": "allow"])
            let tokens = try await request.redeem(try proceed.code)
            for answer in [signIn, consent, proceed, tokens] { #expect(answer.header("cache-control") == "no-store") }
        }
    }

    // The response repeats the state unchanged, and the state cannot break out of the header field or the page.
    @Test(arguments: [
        "x\r\nSet-Cookie: stolen=1\r\n\r\n<html>", "\"><script>alert(1)</script>", "a&code=b&error=c#d", "%2526%00",
        "å😀 +%20",
    ])
    func `a state is returned unchanged and splits no header`(state: String) async throws {
        try await Site.make { site in
            try await site.add(.alice)
            try await site.addScope("photos.read", "See your photos and albums")
            let clientID = try await site.registerClient(options: ["--first-party"])
            try await site.serving {
                var request = ClientAuthorizationRequest(site, clientID)
                request.state = state
                var browser = UserAgent()
                let page = try await browser.open(request.url)
                if let proceed = try? await Account.alice.fillIn(page, in: &browser) {
                    #expect(try proceed.answer.single("state") == state)
                    #expect(!proceed.body.contains("<script>"))
                }
                for answer in [try await browser.send(.get, request.url), page] {
                    #expect(answer.newCookies.allSatisfy { !$0.contains("stolen") })
                    #expect(!answer.body.contains("<script>"))
                    if answer.header("location") != nil, try answer.answer.single("error") == nil {
                        #expect(try answer.answer.single("state") == state)
                    }
                }
            }
        }
    }
}
