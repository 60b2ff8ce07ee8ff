import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// The section for developers on the error page of an authorization request, and the fields of its log line.
struct RefusedRequestDetailsTests {
    private static let registered = [
        "https://app.example/callback", "http://127.0.0.1/callback", "https://intranet.example/secret-path",
    ]

    private func page(_ attempt: Attempt, language: String? = nil) async throws -> ProblemPage {
        var browser = attempt.test.browser()
        if let language { browser.fields[.acceptLanguage] = language }
        let reply = try await browser.open(attempt.url)
        #expect(reply.status == .badRequest)
        #expect(reply.location == nil)
        return try reply.problemPage
    }

    /// The log lines of refusals.
    private func refusals(_ test: TestServer) -> [String] {
        test.log.lines.filter { $0.contains("\"status\": 400") }
    }

    @Test(arguments: [
        ("https://app.example/callback/", 0, "The slash at the end differs."),
        ("https://app.example/Callback", 0, "Upper and lower case differ."),
        ("https://app.example:8443/callback", 0, "The port differs."),
        ("https://app.example:443/callback", 0, "The port is given, although it is the default one."),
        ("https://app.example/callback?a=1", 0, "The query differs."),
        ("https://app.example/other", 0, "The path differs."),
        ("http://app.example/callback", 0, "http and https are not the same."),
        ("https://www.app.example/callback", 0, "The host differs."),
        ("http://localhost:5173/callback", 1, "localhost, 127.0.0.1 and [::1] are not interchangeable."),
        ("http://127.0.0.1:5173/callback/", 1, "The slash at the end differs."),
    ])
    func `the error page names the nearest registered redirect URI and the difference`(
        sent: String, nearest: Int, difference: String
    ) async throws {
        let test = try await TestServer()
        let client = try await test.register("Darkroom", redirectURIs: Self.registered)
        let developer = try #require(try await page(Attempt(test, by: client, at: sent)).developer)
        #expect(developer.clientID == "app_darkroom")
        #expect(developer.redirectURI == sent)
        #expect(developer.cut == nil)
        #expect(developer.registered == Self.registered[nearest])
        #expect(developer.differences == [difference])
        #expect(developer.advice?.contains("counterfoil-server app edit") == true)
        #expect(developer.settings == "/apps/app_darkroom/edit")

        let line = try #require(refusals(test).last)
        #expect(line.contains("\"client_id\": app_darkroom"))
        #expect(line.contains("\"redirect_uri\": \(sent)"))
        #expect(line.contains("\"nearest_redirect_uri\": \(Self.registered[nearest])"))
        #expect(line.contains("\"difference\": \(difference)"))
    }

    // Several differences: a URI on the same host is nearer than one with the same path on another host.
    @Test func `the nearest redirect URI is on the same host`() async throws {
        let test = try await TestServer()
        let client = try await test.register(
            "Darkroom", redirectURIs: ["https://other.example/callback", "https://app.example/sign-in/done"])
        let attempt = Attempt(test, by: client, at: "https://app.example:8443/callback")
        let developer = try #require(try await page(attempt).developer)
        #expect(developer.registered == "https://app.example/sign-in/done")
        #expect(developer.differences == ["The port differs.", "The path differs."])
    }

    // A stranger who sends one request does not see every redirect URI of the client.
    @Test func `no other redirect URI of the client is shown or logged`() async throws {
        let test = try await TestServer()
        let client = try await test.register("Darkroom", redirectURIs: Self.registered)
        for sent in ["https://app.example/x", "x", "https://evil.example/", "http://127.0.0.1:9999/", nil] {
            let shown = try await page(Attempt(test, by: client, at: sent))
            #expect(!"\(shown)".contains("intranet"))
        }
        #expect(!test.log.lines.contains { $0.contains("intranet") })
    }

    @Test(arguments: ["en", "de", "nb", "fr", "es"])
    func `the section is in the language of the page`(language: String) async throws {
        let test = try await TestServer()
        let words = Localizer(try #require(Language(rawValue: language)))
        let developer = try #require(
            try await page(Attempt(test, at: "http://localhost/x"), language: language).developer)
        #expect(developer.advice == words(LocalizedText("problem.developer.redirect-uri")))
        #expect(developer.differences.count == 2)
        // The log is in English in every case.
        #expect(refusals(test).last?.contains("are not interchangeable. The path differs.") == true)
    }

    // The received text cannot change the page or forge a log line.
    @Test(arguments: [
        ("https://app.example/\u{202E}gpj", #"https://app.example/\u{202E}gpj"#),
        ("https://app.example/a\r\nlevel=error x", #"https://app.example/a\u{D}\u{A}level=error\u{20}x"#),
        ("https://аpp.example/", #"https://\u{430}pp.example/"#),
        ("https://app.example/cb\u{200B}", #"https://app.example/cb\u{200B}"#),
        (#"https://app.example/\u{41}"#, #"https://app.example/\\u{41}"#),
        ("\0\u{1B}[31m", #"\u{0}\u{1B}[31m"#),
        ("javascript:alert(1)", "javascript:alert(1)"),
        ("\"><script>alert(1)</script>", "\"><script>alert(1)</script>"),
    ])
    func `control and bidirectional characters are escaped`(sent: String, shown: String) async throws {
        let test = try await TestServer()
        let developer = try #require(try await page(Attempt(test, at: sent)).developer)
        #expect(developer.redirectURI == shown)
        #expect(refusals(test).last?.contains("\"redirect_uri\": \(shown)") == true)
    }

    @Test(arguments: [200, 201, 20_000]) func `a long redirect URI is cut`(length: Int) async throws {
        let test = try await TestServer()
        let sent = "http://localhost/" + String(repeating: "a", count: length - 17)
        let developer = try #require(try await page(Attempt(test, at: sent)).developer)
        let shown = try #require(developer.redirectURI)
        #expect(shown.count == 200)
        #expect(shown.hasSuffix("…") == (length > 200))
        #expect(developer.cut == (length > 200 ? "Its length is \(length) bytes; only the beginning is shown." : nil))
        #expect(test.log.lines.allSatisfy { $0.utf8.count < 1500 })
        let escaped = try #require(
            try await page(Attempt(test, at: String(repeating: "\u{202E}", count: 500))).developer?.redirectURI)
        #expect(escaped.count <= 200)
        #expect(escaped.hasSuffix("}…"))
    }

    // The limit of the request answers first.
    @Test func `of a redirect URI of 100 KB nothing is shown or logged`() async throws {
        let test = try await TestServer()
        let shown = try await page(Attempt(test, at: "http://127.0.0.1/" + String(repeating: "a", count: 100_000)))
        #expect(shown.developer == nil)
        #expect(!"\(shown)".contains("aaaa"))
        #expect(!test.log.lines.contains { $0.contains("aaaa") })
    }

    @Test(arguments: [
        ("app_unknown", "app_unknown"), ("a\nb", #"a\u{A}b"#), ("APP LIGHTBOX", #"APP\u{20}LIGHTBOX"#),
    ])
    func `for an unknown client only the received client identifier is shown`(sent: String, shown: String) async throws
    {
        let test = try await TestServer()
        let attempt = Attempt(test, at: "https://elsewhere.example/cb").with("client_id", sent)
        let developer = try #require(try await page(attempt).developer)
        #expect(developer.clientID == shown)
        #expect(developer.redirectURI == nil)
        #expect(developer.registered == nil)
        #expect(developer.settings == nil)
        let line = try #require(refusals(test).last)
        #expect(line.contains("\"client_id\": \(shown)"))
        #expect(!line.contains("elsewhere"))

        let long = attempt.with("client_id", String(repeating: "x", count: 2000))
        #expect(try await page(long).developer?.clientID?.count == 200)
    }

    @Test func `without a client identifier there is no section`() async throws {
        let test = try await TestServer()
        #expect(try await page(Attempt(test).with("client_id", nil)).developer == nil)
        #expect(try await page(Attempt(test).adding("client_id", "x")).developer == nil)
        #expect(try await page(Attempt(test).adding("redirect_uri", "x")).developer?.clientID == "app_lightbox")
    }

    // The log of every other refusal names the client too, but not the redirect URI.
    @Test func `an error that is sent to the client is logged with the client`() async throws {
        let test = try await TestServer()
        _ = try await Attempt(test, for: "unknown").error()
        let line = try #require(test.log.lines.last { $0.contains("invalid_scope") })
        #expect(line.contains("\"client_id\": app_lightbox"))
        #expect(!test.log.lines.contains { $0.contains("51004") })
    }

    @Test func `a refusal of the token endpoint is logged with the client`() async throws {
        let test = try await TestServer()
        func line(_ form: FormParameters) async throws -> String {
            #expect(await test.redeem(form).status != .ok)
            return try #require(test.log.lines.last)
        }
        let code = FormParameters([
            "grant_type": "authorization_code", "client_id": "app_lightbox", "code": "x", "code_verifier": "x",
        ])
        #expect(try await line(code).contains("\"client_id\": app_lightbox"))
        #expect(try await line(code.setting("client_id", to: "app_unknown")).contains("\"client_id\": app_unknown"))
        let unknown = code.setting("code", to: AuthorizationCode().exposed)
            .setting("code_verifier", to: CodeVerifier().exposed)
        #expect(try await line(unknown).contains("\"client_id\": app_lightbox"))
        _ = try await test.register("Gallery", type: .web, redirectURIs: ["https://app.example/cb"])
        let secret = FormParameters([
            "grant_type": "client_credentials", "client_id": "app_gallery", "client_secret": "not-the-secret",
        ])
        let refused = try await line(secret)
        #expect(refused.contains("\"client_id\": app_gallery"))
        #expect(!refused.contains("not-the-secret"))
    }

    // RFC 7617 §2: each endpoint has its own realm.
    @Test(arguments: [
        (Endpoint.token, "token endpoint"), (.introspection, "introspection endpoint"),
        (.revocation, "revocation endpoint"),
    ])
    func `the challenge names the realm of its endpoint`(endpoint: Endpoint, realm: String) async throws {
        let test = try await TestServer()
        _ = try await test.register("Gallery", type: .web, redirectURIs: ["https://app.example/cb"])
        let form = FormParameters([
            "grant_type": "client_credentials", "token": "x",
        ])
        let credentials = Data("app_gallery:\(ClientSecret().exposed)".utf8).base64EncodedString()
        let reply = await test.send(
            .post, to: endpoint,
            fields: [
                .contentType: "application/x-www-form-urlencoded", .authorization: "Basic \(credentials)",
            ],
            body: Array(form.encoded.utf8))
        #expect(reply.status == .unauthorized)
        #expect(reply.fields[.wwwAuthenticate] == "Basic realm=\"\(realm)\"")
    }
}
