import CounterfoilProtocol
import HTTPTypes
import TestSupport
import Testing

/// HTTP methods that an endpoint does not support.
@Suite(.timeLimit(.minutes(10)))
struct MethodTests {
    @Test func `a method that an endpoint does not support gets 405 with Allow`() async throws {
        try await Site.run { site, clientID in
            let request = ClientAuthorizationRequest(site, clientID)
            let target = request.url.dropFirst(site.issuer.count)
            var agent = UserAgent()
            for (path, methods, allowed) in [
                (String(target), [HTTPRequest.Method.head, .put, .delete, .patch, .options, .trace], "GET, POST"),
                ("/oauth2/authorize/sign-in", [.get, .head, .put], "POST"),
                ("/oauth2/authorize/consent", [.get, .head, .put], "POST"),
                ("/oauth2/token", [.get, .head, .put, .options], "POST"),
                ("/oauth2/par", [.get, .head, .put, .options], "POST"),
                ("/setup", [.head, .put], "GET, POST"),
                ("/oauth2/jwks", [.post, .delete], "GET, HEAD"),
                ("/.well-known/oauth-authorization-server", [.post], "GET, HEAD"),
                ("/livez", [.post], "GET, HEAD"),
            ] {
                for method in methods {
                    let answer = try await agent.send(method, site.issuer + path)
                    #expect(answer.status == 405, "\(method) \(path.prefix(40))")
                    #expect(answer.header("allow") == allowed, "\(method) \(path.prefix(40))")
                    #expect(answer.newCookies.isEmpty)
                    #expect(answer.body.isEmpty)
                }
            }
        }
    }

    @Test func `a header field does not override the method`() async throws {
        try await Site.runEmpty { site in
            var agent = UserAgent()
            let answer = try await agent.send(
                .get, site.issuer + "/oauth2/token", headers: ["x-http-method-override": "POST"])
            #expect(answer.status == 405)
        }
    }

    @Test func `a code that was sent with the wrong method can still be redeemed`() async throws {
        try await Site.run { site, clientID in
            let request = ClientAuthorizationRequest(site, clientID)
            var browser = UserAgent()
            let consent = try await Account.alice.signIn(request.url, in: &browser)
            let proceed = try await browser.submit(try consent.form(withButton: "allow"), ["decision": "allow"])
            let form = FormParameters([
                "grant_type": "authorization_code", "client_id": clientID, "code": try proceed.code,
                "redirect_uri": request.redirectURI, "code_verifier": request.verifier.exposed,
            ])
            #expect(try await browser.send(.put, site.issuer + "/oauth2/token", form: form).status == 405)
            #expect(try await browser.send(.get, site.issuer + "/oauth2/token?" + form.encoded).status == 405)
            #expect(try await browser.send(.post, site.issuer + "/oauth2/token?" + form.encoded).status == 400)
            #expect(try await request.redeem(try proceed.code).status == 200)
        }
    }

    @Test(arguments: [
        "/.well-known/nothing", "/.well-known/oauth-authorization-server/tenant", "/.well-known/openid-configuration/",
        "/.well-known/", "/oauth2/authorize/", "/oauth2//authorize", "/OAUTH2/authorize", "/assets/",
        "/assets/../setup",
        "/..%2f..%2fetc/passwd", "/%00",
    ])
    func `an unknown path is a plain 404`(path: String) async throws {
        try await Site.runEmpty { site in
            let answer = try await RawConnection.exchange(
                "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n", port: site.port)
            #expect(answer.hasPrefix("HTTP/1.1 404 "))
            #expect(answer.contains("Page not found"))
            #expect(!answer.contains(path + "<"))
        }
    }
}
