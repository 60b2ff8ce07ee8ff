import CounterfoilProtocol
import CounterfoilServer
import CounterfoilTesting
import HTTPTypes
import Testing

/// One authorization attempt of an application: the parameters that it sends, which a test can change one by one.
struct Attempt: Sendable {
    let test: TestServer
    let client: RegisteredClient
    let verifier: CodeVerifier
    /// What the authorization request holds.
    var request: FormParameters

    /// An attempt that nothing is wrong with.
    init(
        _ test: TestServer,
        by client: RegisteredClient? = nil,
        at redirectURI: String? = "http://127.0.0.1:51004/callback",
        for scope: String? = "photos.read",
        verifier: CodeVerifier = CodeVerifier()
    ) {
        self.test = test
        self.client = client ?? test.lightbox
        self.verifier = verifier
        request = FormParameters(["response_type": "code", "client_id": self.client.id.rawValue])
        request.append("redirect_uri", ifPresent: redirectURI)
        request.append("scope", ifPresent: scope)
        request.append("state", "af0ifjsldkj")
        request.append("code_challenge", CodeChallenge(of: verifier).rawValue)
        request.append("code_challenge_method", "S256")
    }

    /// The attempt with a parameter replaced or, without a value, taken away.
    func with(_ name: String, _ value: String?) -> Attempt {
        var changed = self
        changed.request = request.setting(name, to: value)
        return changed
    }

    /// The attempt with a parameter added, also when it is there.
    func adding(_ name: String, _ value: String) -> Attempt {
        var changed = self
        changed.request.append(name, value)
        return changed
    }

    /// The URL that a browser opens.
    var url: String { test.issuer.endpoint("/oauth2/authorize") + "?" + request.encoded }

    /// The first answer that a browser gets which has never been here.
    func firstReply() async throws -> Reply {
        var browser = test.browser()
        return try await browser.open(url)
    }

    /// The error that goes to the application at once.
    func error() async throws -> OAuthError { try await firstReply().redirectedError }

    /// Goes through sign-in and consent as alice; the last answer.
    func authorize(
        with browser: inout ScriptedUserAgent,
        decision: ScriptedUserAgent.Decision = .allow
    ) async throws -> Reply {
        try await browser.authorize(url, username: "alice", password: TestServer.password, decision: decision)
    }

    /// Goes through sign-in and consent as alice in a new browser; the last answer.
    func authorize(decision: ScriptedUserAgent.Decision = .allow) async throws -> Reply {
        var browser = test.browser()
        return try await authorize(with: &browser, decision: decision)
    }

    /// The token request for a code, which a test can change.
    func exchange(_ code: AuthorizationCode) -> FormParameters {
        var form = FormParameters([
            "grant_type": "authorization_code", "client_id": client.id.rawValue, "code": code.exposed,
        ])
        form.append("redirect_uri", ifPresent: request.pairs.first { $0.name == "redirect_uri" }?.value)
        form.append("code_verifier", verifier.exposed)
        return form
    }

    /// The whole way, as alice: the tokens.
    func tokens() async throws -> TokenResponse {
        var browser = test.browser()
        return try await tokens(in: &browser)
    }

    /// The whole way in a browser, as alice: the tokens.
    func tokens(in browser: inout ScriptedUserAgent) async throws -> TokenResponse {
        try await test.redeem(exchange(try await authorize(with: &browser).code)).tokenResponse
    }
}

extension FormParameters {
    /// The parameters with one replaced or, without a value, taken away.
    func setting(_ name: String, to value: String?) -> FormParameters {
        var form = FormParameters(pairs.filter { $0.name != name })
        form.append(name, ifPresent: value)
        return form
    }

    /// The parameters with one added, also when it is there.
    func adding(_ name: String, _ value: String) -> FormParameters {
        var form = self
        form.append(name, value)
        return form
    }
}

extension HTTPField.Name {
    /// A field name that a test spells.
    static func named(_ name: String) throws -> HTTPField.Name { try #require(HTTPField.Name(name)) }
}
