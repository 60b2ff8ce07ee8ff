package import CounterfoilProtocol
package import CounterfoilServer

/// The authorization request and the token request of a client; a test can change each parameter.
package struct Attempt: Sendable {
    package let test: TestServer
    package let client: RegisteredClient
    package let verifier: CodeVerifier
    /// The parameters of the authorization request.
    package var request: FormParameters

    /// Creates a valid attempt.
    package init(
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

    /// Returns the attempt with a parameter replaced, or removed if there is no value.
    package func with(_ name: String, _ value: String?) -> Attempt {
        var changed = self
        changed.request = request.setting(name, to: value)
        return changed
    }

    /// Returns the attempt with a parameter added, even if it is already there.
    package func adding(_ name: String, _ value: String) -> Attempt {
        var changed = self
        changed.request.append(name, value)
        return changed
    }

    /// The URL of the authorization request.
    package var url: String { test.issuer.endpoint("/oauth2/authorize") + "?" + request.encoded }

    /// Opens the request in a new browser and returns the first reply.
    package func firstReply() async throws -> Reply {
        var browser = test.browser()
        return try await browser.open(url)
    }

    /// Returns the error with which the server redirects at once.
    package func error() async throws -> OAuthError { try await firstReply().redirectedError }

    /// Signs in as alice, answers the consent page, and returns the last reply.
    package func authorize(
        with browser: inout ScriptedUserAgent,
        decision: ScriptedUserAgent.Decision = .allow
    ) async throws -> Reply {
        try await browser.authorize(url, username: "alice", password: TestServer.password, decision: decision)
    }

    /// Signs in as alice in a new browser, answers the consent page, and returns the last reply.
    package func authorize(decision: ScriptedUserAgent.Decision = .allow) async throws -> Reply {
        var browser = test.browser()
        return try await authorize(with: &browser, decision: decision)
    }

    /// Returns the token request for a code.
    package func exchange(_ code: AuthorizationCode) -> FormParameters {
        var form = FormParameters([
            "grant_type": "authorization_code", "client_id": client.id.rawValue, "code": code.exposed,
        ])
        form.append("redirect_uri", ifPresent: request.pairs.first { $0.name == "redirect_uri" }?.value)
        form.append("code_verifier", verifier.exposed)
        return form
    }

    /// Authorizes as alice in a new browser, and returns the tokens.
    package func tokens() async throws -> TokenResponse {
        var browser = test.browser()
        return try await tokens(in: &browser)
    }

    /// Authorizes as alice in a browser, and returns the tokens.
    package func tokens(in browser: inout ScriptedUserAgent) async throws -> TokenResponse {
        try await test.redeem(exchange(try await authorize(with: &browser).code)).tokenResponse
    }
}

extension FormParameters {
    /// Returns the parameters with one replaced, or removed if there is no value.
    package func setting(_ name: String, to value: String?) -> FormParameters {
        var form = FormParameters(pairs.filter { $0.name != name })
        form.append(name, ifPresent: value)
        return form
    }

    /// Returns the parameters with one added, even if it is already there.
    package func adding(_ name: String, _ value: String) -> FormParameters {
        var form = self
        form.append(name, value)
        return form
    }
}
