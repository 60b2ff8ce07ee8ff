import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import HTTPTypes
import Testing

/// An authorization request of a client, whose parameters a test can change one by one.
struct Attempt: Sendable {
    let test: TestServer
    let client: RegisteredClient
    let verifier: CodeVerifier
    /// The parameters of the authorization request.
    var request: FormParameters

    /// A valid request.
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

    /// Replaces a parameter, or removes it if the value is nil.
    func with(_ name: String, _ value: String?) -> Attempt {
        var changed = self
        changed.request = request.setting(name, to: value)
        return changed
    }

    /// Adds a parameter, even if the name is already present.
    func adding(_ name: String, _ value: String) -> Attempt {
        var changed = self
        changed.request.append(name, value)
        return changed
    }

    /// The URL that a browser opens.
    var url: String { test.issuer.endpoint("/oauth2/authorize") + "?" + request.encoded }

    /// Returns the first response to a browser without cookies.
    func firstReply() async throws -> Reply {
        var browser = test.browser()
        return try await browser.open(url)
    }

    /// Returns the error that is sent to the client without a page.
    func error() async throws -> OAuthError { try await firstReply().redirectedError }

    /// Signs in and consents as alice; returns the last response.
    func authorize(
        with browser: inout ScriptedUserAgent,
        decision: ScriptedUserAgent.Decision = .allow
    ) async throws -> Reply {
        try await browser.authorize(url, username: "alice", password: TestServer.password, decision: decision)
    }

    /// Signs in and consents as alice in a new browser; returns the last response.
    func authorize(decision: ScriptedUserAgent.Decision = .allow) async throws -> Reply {
        var browser = test.browser()
        return try await authorize(with: &browser, decision: decision)
    }

    /// The token request for a code, whose parameters a test can change.
    func exchange(_ code: AuthorizationCode) -> FormParameters {
        var form = FormParameters([
            "grant_type": "authorization_code", "client_id": client.id.rawValue, "code": code.exposed,
        ])
        form.append("redirect_uri", ifPresent: request.pairs.first { $0.name == "redirect_uri" }?.value)
        form.append("code_verifier", verifier.exposed)
        return form
    }

    /// Runs the whole flow as alice; returns the tokens.
    func tokens() async throws -> TokenResponse {
        var browser = test.browser()
        return try await tokens(in: &browser)
    }

    /// Runs the whole flow as alice in a given browser; returns the tokens.
    func tokens(in browser: inout ScriptedUserAgent) async throws -> TokenResponse {
        try await test.redeem(exchange(try await authorize(with: &browser).code)).tokenResponse
    }
}

extension FormParameters {
    /// Replaces a parameter, or removes it if the value is nil.
    func setting(_ name: String, to value: String?) -> FormParameters {
        var form = FormParameters(pairs.filter { $0.name != name })
        form.append(name, ifPresent: value)
        return form
    }

    /// Adds a parameter, even if the name is already present.
    func adding(_ name: String, _ value: String) -> FormParameters {
        var form = self
        form.append(name, value)
        return form
    }
}

extension HTTPField.Name {
    /// A header field name from a test's text.
    static func named(_ name: String) throws -> HTTPField.Name { try #require(HTTPField.Name(name)) }
}
