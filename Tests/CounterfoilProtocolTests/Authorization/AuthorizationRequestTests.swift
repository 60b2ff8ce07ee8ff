import CounterfoilProtocol
import TestSupport
import Testing

struct AuthorizationRequestTests {
    private static func parse(_ form: FormParameters) throws -> AuthorizationRequest {
        let target = try AuthorizationRequest.ResponseTarget(parsing: form)
        return try AuthorizationRequest(
            parsing: form, from: target.clientID, at: target.redirectURI.map { try RedirectURI($0) })
    }

    private static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"

    /// Returns a valid request with one parameter added or replaced, or removed if the value is nil.
    private static func form(_ name: String = "", _ value: String? = nil) -> FormParameters {
        let whole = FormParameters([
            "response_type": "code", "client_id": "lightbox", "redirect_uri": "http://127.0.0.1:51004/callback",
            "scope": "openid photos.read", "state": "xyz", "code_challenge": challenge, "code_challenge_method": "S256",
        ])
        var form = FormParameters(whole.pairs.filter { $0.name != name })
        form.append(name, ifPresent: value)
        return form
    }

    private static func error(_ form: FormParameters) -> OAuthError? {
        do {
            _ = try parse(form)
            return nil
        } catch { return error as? OAuthError }
    }

    @Test(arguments: SeededGenerator.seeds)
    func `any request comes back from its wire form`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<SeededGenerator.rounds {
            let request = try Self.request(&random)
            let form = try FormParameters(parsing: request.parameters.encoded)
            #expect(try Self.parse(form) == request)
        }
    }

    // Exactly the parameters of a native app, in the order of the standard.
    @Test func `the URL that a browser opens has the parameters of the standard`() throws {
        let verifier = try #require(CodeVerifier("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"))
        let request = AuthorizationRequest(
            clientID: try #require(ClientIdentifier("lightbox")),
            redirectURI: try RedirectURI("com.example.lightbox:/callback"),
            state: OAuthState("a b&c"),
            codeChallenge: CodeChallenge(of: verifier)
        )
        let query =
            "response_type=code&client_id=lightbox&redirect_uri=com.example.lightbox%3A%2Fcallback&state=a%20b%26c"
            + "&code_challenge=\(Self.challenge)&code_challenge_method=S256"
        let endpoint = try AbsoluteURI(parsing: "https://id.example.com/oauth2/authorize")
        #expect(request.url(at: endpoint) == "https://id.example.com/oauth2/authorize?" + query)
        let withQuery = try AbsoluteURI(parsing: "https://id.example.com/authorize?tenant=1")
        #expect(request.url(at: withQuery) == "https://id.example.com/authorize?tenant=1&" + query)
    }

    @Test(arguments: [
        (nil, OAuthError.Code.invalidRequest), ("", .invalidRequest), ("token", .unsupportedResponseType),
        ("id_token token", .unsupportedResponseType), ("code token", .unsupportedResponseType),
        ("none", .unsupportedResponseType), ("code ", .unsupportedResponseType), ("CODE", .unsupportedResponseType),
        ("code code", .unsupportedResponseType),
    ])
    func `the only response type is code`(value: String?, code: OAuthError.Code) {
        #expect(Self.error(Self.form("response_type", value))?.code == code)
    }

    @Test(arguments: [
        ("code_challenge_method", "s256"), ("code_challenge_method", "S512"), ("code_challenge_method", "S256 "),
        ("code_challenge_method", "S256\0"), ("code_challenge", nil), ("code_challenge", ""),
        ("code_challenge", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-c"),
        ("code_challenge", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM="),
        ("code_challenge", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw+cM"),
        ("code_challenge", "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXé"),
    ])
    func `a challenge is whole or the request is invalid`(name: String, value: String?) {
        #expect(Self.error(Self.form(name, value))?.code == .invalidRequest)
    }

    // RFC 7636 §4.3: a challenge without a method means plain. The server decides whether to
    // accept it.
    @Test(arguments: [("plain", true), (nil, false), ("", false)])
    func `a plain challenge is read as one, and kept as the SHA-256 that it stands for`(
        method: String?, isNamed: Bool
    ) throws {
        let request = try Self.parse(Self.form("code_challenge_method", method))
        let verifier = try #require(CodeVerifier(Self.challenge))
        #expect(request.presentedChallenge == .plain(CodeChallenge(of: verifier), isNamed: isNamed))
        #expect(request.codeChallenge?.matches(verifier) == true)
        #expect(!String(describing: request).contains(Self.challenge))
    }

    // The limit is in bytes, because one character can contain any number of scalars.
    @Test(arguments: ["login_hint", "ui_locales", "device_name"])
    func `a hint is cut to 320 bytes`(name: String) throws {
        func hint(_ text: String) throws -> String? {
            let request = try Self.parse(Self.form(name, text))
            return switch name {
            case "login_hint": request.loginHint
            case "device_name": request.deviceName
            default: request.uiLocales
            }
        }
        #expect(try hint("e" + String(repeating: "\u{301}", count: 2000))?.utf8.count == 319)
        #expect(try hint(String(repeating: "a", count: 321))?.utf8.count == 320)
    }

    // RFC 7636 §4.1
    @Test(arguments: [
        String(repeating: "a", count: 42), String(repeating: "a", count: 129), String(repeating: "a", count: 42) + "=",
    ])
    func `a plain challenge that cannot be a verifier makes the request invalid`(challenge: String) {
        for method in ["plain", nil] {
            let form = FormParameters(
                Self.form("code_challenge_method", method).pairs.map {
                    $0.name == "code_challenge" ? .init(name: $0.name, value: challenge) : $0
                })
            #expect(Self.error(form)?.code == .invalidRequest)
        }
    }

    @Test(arguments: [
        "response_type", "scope", "state", "code_challenge", "code_challenge_method", "nonce", "prompt", "max_age",
        "response_mode", "login_hint", "ui_locales", "device_name",
    ])
    func `a repeated parameter makes the request invalid`(name: String) {
        var form = Self.form()
        form.append(name, "1")
        form.append(name, "1")
        #expect(Self.error(form)?.code == .invalidRequest)
    }

    // A repeated state is never returned.
    @Test func `a repeated state is not returned`() {
        var form = Self.form()
        form.append("state", "other")
        #expect(AuthorizationRequest.returnableState(in: form) == nil)
        #expect(AuthorizationRequest.returnableState(in: Self.form())?.exposed == "xyz")
        #expect(AuthorizationRequest.returnableState(in: Self.form("state", "")) == nil)
    }

    @Test(arguments: [
        ("response_mode", "fragment.jwt", OAuthError.Code.invalidRequest),
        ("response_mode", "query.jwt", .invalidRequest), ("response_mode", "web_message", .invalidRequest),
        ("prompt", "none login", .invalidRequest), ("prompt", "none none", .invalidRequest),
        ("max_age", "-1", .invalidRequest), ("max_age", "abc", .invalidRequest),
        ("max_age", "99999999999999999999", .invalidRequest), ("max_age", "1.5", .invalidRequest),
        ("max_age", "٣", .invalidRequest), ("request", "eyJhbGciOiJub25lIn0.e30.", .requestNotSupported),
        ("request_uri", "https://evil.example/r", .requestURINotSupported),
        ("request_uri", "http://169.254.169.254/", .requestURINotSupported),
        ("request_uri", "urn:ietf:params:oauth:request_uri:x", .requestURINotSupported),
        ("registration", "{}", .registrationNotSupported), ("scope", "  ", .invalidScope),
        ("scope", "a\tb", .invalidScope),
        ("scope", "a\"b", .invalidScope), ("nonce", String(repeating: "n", count: 2049), .invalidRequest),
        ("state", String(repeating: "s", count: 8193), .invalidRequest),
    ])
    func `what is not supported or malformed is said so`(name: String, value: String, code: OAuthError.Code) {
        #expect(Self.error(Self.form(name, value))?.code == code)
    }

    @Test func `what is unknown is ignored`() throws {
        #expect(try Self.parse(Self.form("extra", "foobar")) == Self.parse(Self.form()))
        #expect(try Self.parse(Self.form("prompt", "login dance")).prompt == [.login])
        #expect(try Self.parse(Self.form("prompt", " none ")).prompt == [.none])
        #expect(try Self.parse(Self.form("max_age", "0")).maxAge == 0)
    }

    @Test func `without a valid response target no response is sent`() throws {
        typealias ResponseTarget = AuthorizationRequest.ResponseTarget
        #expect(throws: ResponseTarget.Refusal.clientIDMissing) {
            try ResponseTarget(parsing: Self.form("client_id", nil))
        }
        #expect(throws: ResponseTarget.Refusal.clientIDMissing) {
            try ResponseTarget(parsing: Self.form("client_id", ""))
        }
        #expect(throws: ResponseTarget.Refusal.clientIDMalformed) {
            try ResponseTarget(parsing: Self.form("client_id", "a\nb"))
        }
        for name in ["client_id", "redirect_uri"] {
            var form = Self.form()
            form.append(name, "https://evil.example/cb")
            #expect(throws: ResponseTarget.Refusal.parameters(.repeated(name))) { try ResponseTarget(parsing: form) }
        }
        #expect(try ResponseTarget(parsing: Self.form("redirect_uri", "")).redirectURI == nil)
        #expect(try ResponseTarget(parsing: Self.form("redirect_uri", "/cb")).redirectURI == "/cb")
    }

    private static func request(_ random: inout SeededGenerator) throws -> AuthorizationRequest {
        let addresses = ["http://127.0.0.1:51004/cb", "com.example.app:/cb", "https://app.example/cb?x=%20"]
        return AuthorizationRequest(
            clientID: ClientIdentifier(random.text(1...40, of: Alphabet.visible)) ?? ClientIdentifier(),
            redirectURI: try random.maybe { try $0.pick(addresses).map { try RedirectURI($0) } },
            scope: random.maybe { random in
                Scope((0...3).compactMap { _ in Scope.Token(random.text(1...9, of: Alphabet.scope)) })
            },
            state: random.maybe { OAuthState($0.anyText(0...50)) },
            codeChallenge: random.maybe { CodeChallenge(Base64URL.encode($0.bytes(32...32))) },
            nonce: random.maybe { Nonce($0.anyText(0...50)) },
            prompt: random.maybe { random in
                let some = AuthorizationRequest.Prompt.allCases.filter { _ in Bool.random(using: &random) }
                return some.contains(.none) ? [.none] : Set(some)
            } ?? [],
            maxAge: random.maybe { Int.random(in: 0...999_999_999, using: &$0) },
            loginHint: random.maybe { $0.text(1...40, of: Alphabet.visible) },
            uiLocales: random.maybe { $0.text(1...20, of: "abcdefgDE- ") }
        )
    }
}

extension SeededGenerator {
    mutating func pick<Value>(_ values: [Value]) -> Value? { values.randomElement(using: &self) }
}
