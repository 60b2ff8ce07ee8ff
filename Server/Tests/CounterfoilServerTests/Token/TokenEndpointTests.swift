import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// The format of requests and responses at the token endpoint.
struct TokenEndpointTests {
    // RFC 6749 §5.1
    @Test func `a redeemed code gives a bearer token for an hour, as JSON that is not stored`() async throws {
        let test = try await TestServer()
        let attempt = Attempt(test)
        let reply = await test.redeem(attempt.exchange(try await attempt.authorize().code))
        #expect(reply.status == .ok)
        #expect(reply.fields[.cacheControl] == "no-store")
        #expect(reply.fields[try .named("Pragma")] == "no-cache")
        #expect(reply.cookies.isEmpty)
        let body = try #require(try JSONSerialization.jsonObject(with: Data(try reply.json)) as? [String: Any])
        #expect(body["token_type"] as? String == "Bearer")
        #expect(body["expires_in"] as? Int == 3600)
        #expect(body["access_token"] is String)
        #expect(body["scope"] as? String == "photos.read")
        #expect(body["refresh_token"] == nil)
        #expect(body["id_token"] == nil)
    }

    // The endpoint is for programs. Without a registered origin it never allows a script, whatever
    // the request contains.
    @Test(arguments: ["https://app.example", "https://id.example.com", "null", "http://127.0.0.1:3000"])
    func `no response of the token endpoint allows an unregistered origin`(origin: String) async throws {
        let test = try await TestServer()
        let attempt = Attempt(test)
        let form = attempt.exchange(try await attempt.authorize().code)
        let fields: HTTPFields = [.origin: origin, .accessControlRequestMethod: "POST"]
        let replies = [
            await test.send(.options, to: .token, fields: fields), await test.redeem(form, fields: fields),
            await test.redeem(form, fields: fields),
        ]
        #expect(replies.map(\.status) == [.methodNotAllowed, .ok, .badRequest])
        for reply in replies {
            #expect(!reply.fields.contains { $0.name.canonicalName.hasPrefix("access-control-") })
        }
    }

    // Only a form is parsed, and nothing is consumed.
    @Test(arguments: [
        "application/json", "text/plain", "multipart/form-data; boundary=x", nil,
        "application/x-www-form-urlencoded; charset=utf-16", "application/x-www-form-urlencoded; charset=iso-8859-1",
        "application/x-www-form-urlencodedx", "",
    ])
    func `a body that is not a form is refused and consumes nothing`(type: String?) async throws {
        let test = try await TestServer()
        let attempt = Attempt(test)
        let form = attempt.exchange(try await attempt.authorize().code)
        let json = #"{"grant_type":"authorization_code","code":"x"}"#
        for body in [form.encoded, json] {
            let reply = await test.send(
                .post, to: .token, fields: type.map { [.contentType: $0] } ?? [:], body: Array(body.utf8)
            )
            #expect(reply.status == .badRequest)
            #expect(try reply.tokenError.error == "invalid_request")
        }
        #expect(await test.redeem(form).status == .ok)
    }

    // A form may state that it is in UTF-8.
    @Test(arguments: [
        "application/x-www-form-urlencoded;charset=UTF-8", "application/x-www-form-urlencoded; charset=\"utf-8\"",
        "Application/X-WWW-Form-Urlencoded",
    ])
    func `a form that states its encoding is accepted`(type: String) async throws {
        let test = try await TestServer()
        let attempt = Attempt(test)
        let form = attempt.exchange(try await attempt.authorize().code)
        #expect(await test.redeem(form, fields: [.contentType: type]).status == .ok)
    }

    // Two content types are none.
    @Test func `two content types are refused`() async throws {
        let test = try await TestServer()
        var fields = HTTPFields()
        fields.append(HTTPField(name: .contentType, value: "application/x-www-form-urlencoded"))
        fields.append(HTTPField(name: .contentType, value: "application/json"))
        let reply = await test.send(.post, to: .token, fields: fields, body: Array("grant_type=x".utf8))
        #expect(try reply.tokenError.error == "invalid_request")
    }

    // The URL is ignored, above all for credentials.
    @Test func `parameters in the URL are ignored`() async throws {
        let test = try await TestServer()
        let attempt = Attempt(test)
        let form = attempt.exchange(try await attempt.authorize().code)
        let empty = await test.redeem(FormParameters(), query: form.encoded)
        #expect(try empty.tokenError.error == "invalid_request")
        let split = await test.redeem(
            form.setting("code_verifier", to: nil), query: "code_verifier=\(attempt.verifier.exposed)")
        #expect(try split.tokenError.error == "invalid_grant")
        #expect(await test.redeem(form, query: "client_secret=x&client_id=app_unknown").status == .ok)
    }

    @Test(arguments: ["grant_type", "client_id", "code", "code_verifier", "redirect_uri"])
    func `a repeated parameter is refused and consumes nothing`(name: String) async throws {
        let test = try await TestServer()
        let attempt = Attempt(test)
        let form = attempt.exchange(try await attempt.authorize().code)
        for value in ["other", form.pairs.first { $0.name == name }?.value ?? ""] {
            #expect(try await test.redeem(form.adding(name, value)).tokenError.error == "invalid_request")
        }
        #expect(await test.redeem(form).status == .ok)
    }

    // Unsupported grants and missing parameters.
    @Test(arguments: [
        ("grant_type", nil, "invalid_request"), ("grant_type", "", "invalid_request"),
        ("grant_type", "x", "unsupported_grant_type"),
        ("grant_type", "password", "unsupported_grant_type"),
        ("grant_type", "client_credentials", "unauthorized_client"),
        ("grant_type", "refresh_token", "invalid_request"), ("grant_type", "implicit", "unsupported_grant_type"),
        ("grant_type", "Authorization_Code", "unsupported_grant_type"),
        ("code", nil, "invalid_request"), ("code", "", "invalid_request"), ("client_id", nil, "invalid_request"),
        ("client_id", "", "invalid_request"), ("client_id", "app_unknown", "invalid_client"),
        ("client_id", "a\nb", "invalid_client"),
    ])
    func `a missing or unknown parameter is refused and consumes nothing`(name: String, value: String?, error: String)
        async throws
    {
        let test = try await TestServer()
        let attempt = Attempt(test)
        let form = attempt.exchange(try await attempt.authorize().code)
        let reply = await test.redeem(form.setting(name, to: value))
        #expect(reply.status == .badRequest)
        #expect(try reply.tokenError.error == error)
        #expect(reply.fields[.cacheControl] == "no-store")
        #expect(await test.redeem(form).status == .ok)
    }

    // No URL in a token request is fetched, wherever it leads; unknown parameters are ignored.
    @Test(arguments: [
        "issuer", "jwks_uri", "token_endpoint", "request_uri", "callback", "host", "registration_client_uri", "sector",
        "client_session_host", "X-Forwarded-Host",
    ])
    func `a URL in a token request is not fetched`(name: String) async throws {
        let test = try await TestServer()
        let attempt = Attempt(test, for: "openid photos.read")
        let form = attempt.exchange(try await attempt.authorize().code)
        let tokens = try await test.redeem(form.adding(name, "http://169.254.169.254/latest/meta-data")).tokenResponse
        let claims = try IssuedTokens.parts(of: try #require(tokens.idToken).exposed).claims
        #expect(claims["iss"] as? String == test.issuer.rawValue)
        #expect(!String(describing: claims).contains("169.254"))
        let stayed = try await RefreshTokenGrantTests.Stayed(test)
        let again = await test.redeem(try stayed.form().adding(name, "http://169.254.169.254/latest/meta-data"))
        #expect(again.status == .ok)
        #expect(!String(decoding: try again.json, as: UTF8.self).contains("169.254"))
    }

    // A response echoes nothing, and the log contains no secret.
    @Test func `neither responses nor the log contain a code, a verifier, a token or a password`() async throws {
        let test = try await TestServer()
        let attempt = Attempt(test, for: "openid photos.read")
        var browser = test.browser()
        let first = try await browser.open(attempt.url)
        _ = try await browser.signIn(on: first, username: "alice", password: "wrong-password-of-alice")
        let code = try await attempt.authorize(with: &browser).code
        let form = attempt.exchange(code)
        let wrong = CodeVerifier()
        let replies = [
            await test.redeem(form.setting("code_verifier", to: wrong.exposed)),
            await test.redeem(form.setting("redirect_uri", to: "https://evil.example/cb")),
            await test.redeem(form.setting("client_secret", to: "hush-hush")),
        ]
        let tokens = try await test.redeem(form).tokenResponse
        let again = await test.redeem(form)
        let secrets =
            [
                code.exposed, attempt.verifier.exposed, wrong.exposed, tokens.accessToken.exposed,
                try #require(tokens.idToken).exposed, "wrong-password-of-alice", TestServer.password, "hush-hush",
            ] + browser.cookies.values
        for reply in replies + [again] {
            let body = String(decoding: try reply.json, as: UTF8.self)
            for text in secrets + ["evil", "Swift", "/Sources"] { #expect(!body.contains(text)) }
        }
        #expect(test.log.lines.count >= 4)
        for line in test.log.lines {
            for secret in secrets { #expect(!line.contains(secret)) }
        }
    }
}
