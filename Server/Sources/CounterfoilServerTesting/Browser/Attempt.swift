package import CounterfoilProtocol
package import CounterfoilServer
package import CounterfoilStore

/// An authorization request of a client, and the token request for its code.
package struct Attempt: Sendable {
    package let test: TestServer
    package let client: RegisteredClient
    package let verifier: CodeVerifier
    /// The parameters of the authorization request, which a test can change.
    package var request: FormParameters

    /// Creates an attempt with `state` and an S256 challenge; its request is valid by default.
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

    /// Returns the attempt with one parameter of the request replaced; nil removes the parameter.
    package func with(_ name: String, _ value: String?) -> Attempt {
        var changed = self
        changed.request = request.setting(name, to: value)
        return changed
    }

    /// Returns the attempt with a parameter added to the request; a parameter of the same name stays.
    package func adding(_ name: String, _ value: String) -> Attempt {
        var changed = self
        changed.request.append(name, value)
        return changed
    }

    /// The URL of the authorization request.
    package var url: String { test.issuer.endpoint("/oauth2/authorize") + "?" + request.encoded }

    /// Opens the authorization request in a new browser with an IP address, and returns the first reply.
    package func firstReply(from source: String = "192.0.2.1") async throws -> Reply {
        var browser = test.browser(source: source)
        return try await browser.open(url)
    }

    /// Opens the authorization request in a new browser, and returns the error in the redirect that replies to it.
    package func error() async throws -> OAuthError { try await firstReply().redirectedError }

    /// Opens the request in a browser, signs in as alice, presses the button `decision` on each page that has it,
    /// and returns the last reply.
    package func authorize(
        with browser: inout ScriptedUserAgent,
        decision: ScriptedUserAgent.Decision = .allow
    ) async throws -> Reply {
        try await browser.authorize(url, username: "alice", password: TestServer.password, decision: decision)
    }

    /// Opens the request in a new browser, signs in as alice, presses the button `decision` on each page that has
    /// it, and returns the last reply.
    package func authorize(decision: ScriptedUserAgent.Decision = .allow) async throws -> Reply {
        var browser = test.browser()
        return try await authorize(with: &browser, decision: decision)
    }

    /// Returns the form of the token request for a code.
    package func exchange(_ code: AuthorizationCode) -> FormParameters {
        var form = FormParameters([
            "grant_type": "authorization_code", "client_id": client.id.rawValue, "code": code.exposed,
        ])
        form.append("redirect_uri", ifPresent: request.pairs.first { $0.name == "redirect_uri" }?.value)
        form.append("code_verifier", verifier.exposed)
        return form
    }

    /// Authorizes the client as alice in a new browser, and returns the tokens for the code.
    package func tokens() async throws -> TokenResponse {
        var browser = test.browser()
        return try await tokens(in: &browser)
    }

    /// Authorizes the client as alice in a browser, and returns the tokens for the code.
    package func tokens(in browser: inout ScriptedUserAgent) async throws -> TokenResponse {
        try await test.redeem(exchange(try await authorize(with: &browser).code)).tokenResponse
    }
}

extension FormParameters {
    /// Returns the parameters with every value of a name replaced by one value, or removed if it is nil.
    package func setting(_ name: String, to value: String?) -> FormParameters {
        var form = FormParameters(pairs.filter { $0.name != name })
        form.append(name, ifPresent: value)
        return form
    }

    /// Returns the parameters with one more; a parameter of the same name stays.
    package func adding(_ name: String, _ value: String) -> FormParameters {
        var form = self
        form.append(name, value)
        return form
    }
}
