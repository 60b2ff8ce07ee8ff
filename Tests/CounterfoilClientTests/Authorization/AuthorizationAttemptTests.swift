import CounterfoilClient
import CounterfoilProtocol
import Testing

struct AuthorizationAttemptTests {
    private func configuration(sendsIssuer: Bool = true) throws -> AuthorizationServerConfiguration {
        let issuer = try Issuer("https://id.example.com")
        var metadata = AuthorizationServerMetadata(issuer: issuer)
        metadata.authorizationEndpoint = issuer.endpoint("/oauth2/authorize")
        metadata.tokenEndpoint = issuer.endpoint("/oauth2/token")
        metadata.codeChallengeMethodsSupported = ["S256"]
        metadata.authorizationResponseIssParameterSupported = sendsIssuer
        return try AuthorizationServerConfiguration(metadata, of: issuer)
    }

    private func attempt(
        scope: String = "openid photos.read",
        redirectURI: String = "http://127.0.0.1:50123/callback",
        sendsIssuer: Bool = true,
        options: NativeSignIn.Options = .init()
    ) throws -> AuthorizationAttempt {
        let clientID = try #require(ClientIdentifier("light box"))
        return AuthorizationAttempt(
            at: try configuration(sendsIssuer: sendsIssuer), clientID: clientID,
            redirectURI: try RedirectURI(redirectURI), scope: try Scope(lenient: scope), options: options)
    }

    private func parameters(of url: String) throws -> FormParameters {
        try FormParameters(parsing: String(url.drop { $0 != "?" }.dropFirst()))
    }

    private func callback(
        to url: String,
        changing change: (inout [FormParameters.Pair]) -> Void = { _ in }
    ) throws -> AuthorizationCallback {
        let state = try #require(try parameters(of: url).single("state"))
        var pairs = FormParameters(["code": "c0de", "state": state, "iss": "https://id.example.com"]).pairs
        change(&pairs)
        return AuthorizationCallback(
            at: try RedirectURI("http://127.0.0.1:50123/callback"), parameters: FormParameters(pairs))
    }

    @Test func `the authorization URL has every required parameter, encoded, and no verifier`() throws {
        let attempt = try attempt()
        let url = attempt.authorizationURL
        let form = try parameters(of: url)
        #expect(url.hasPrefix("https://id.example.com/oauth2/authorize?response_type=code&client_id=light%20box&"))
        #expect(url.contains("redirect_uri=http%3A%2F%2F127.0.0.1%3A50123%2Fcallback"))
        #expect(url.contains("scope=openid%20photos.read"))
        #expect(try form.single("code_challenge_method") == "S256")
        #expect(try form.single("code_challenge")?.utf8.count == 43)
        #expect(try form.single("state")?.utf8.count == 43)
        #expect(try form.single("nonce")?.utf8.count == 43)
        #expect(!url.contains("verifier"))
    }

    @Test func `a redirect URI can be omitted if only one is registered`() throws {
        var options = NativeSignIn.Options()
        options.omitsRedirectURI = true
        let attempt = try attempt(options: options)
        #expect(try parameters(of: attempt.authorizationURL).single("redirect_uri") == nil)
    }

    @Test func `a login hint with shell syntax is one encoded parameter of one argument`() throws {
        var options = NativeSignIn.Options()
        options.loginHint = "\" & calc $(reboot) `id` %0a \u{1F600} '"
        let url = try attempt(options: options).authorizationURL
        #expect(try parameters(of: url).single("login_hint") == options.loginHint)
        #expect(url.utf8.allSatisfy { (0x21...0x7E).contains($0) && !"\"'`$ <>\\|&&".utf8.dropLast(2).contains($0) })
        #expect(try BrowserURL(url).rawValue == url)
    }

    @Test func `the name of the device is sent only if the program sets it`() throws {
        var options = NativeSignIn.Options()
        #expect(try parameters(of: attempt(options: options).authorizationURL).single("device_name") == nil)
        options.deviceName = "Ada's phone & more"
        let form = try parameters(of: attempt(options: options).authorizationURL)
        #expect(try form.single("device_name") == options.deviceName)
    }

    @Test func `no two attempts share a value`() throws {
        var values: Set<String> = []
        for _ in 0..<100 {
            let form = try parameters(of: attempt().authorizationURL)
            for name in ["state", "nonce", "code_challenge"] { values.insert(try #require(try form.single(name))) }
        }
        #expect(values.count == 300)
    }

    @Test func `the response to the request yields a code`() throws {
        let attempt = try attempt()
        let callback = try callback(to: attempt.authorizationURL)
        _ = try attempt.complete(with: callback)
    }

    // State is checked first, so an error response with a foreign state is not taken for a
    // refusal.
    @Test(arguments: ["missing", "other", "empty", "prefix", "twice", "error"])
    func `a callback without the state of the attempt is not its response`(kind: String) throws {
        let attempt = try attempt()
        let callback = try callback(to: attempt.authorizationURL) { pairs in
            let state = pairs[1]
            switch kind {
            case "missing": pairs.remove(at: 1)
            case "other": pairs[1] = .init(name: "state", value: OAuthState().exposed)
            case "empty": pairs[1] = .init(name: "state", value: "")
            case "prefix": pairs[1] = .init(name: "state", value: String(state.value.dropLast()))
            case "twice": pairs.append(state)
            default: pairs = FormParameters(["error": "access_denied", "state": "guess"]).pairs
            }
        }
        #expect(!attempt.expectation.isAnswered(by: callback))
        let refused = attempt.refusal(of: callback)
        #expect(refused == .unsafe(.callback(.wrongState)))
    }

    // RFC 9207 §2.4
    @Test(arguments: [
        ("iss other", AuthorizationCallback.Refusal.wrongIssuer),
        ("iss slash", .wrongIssuer),
        ("iss missing", .missingIssuer),
        ("iss twice", .malformed(.parameters(.repeated("iss")))),
        ("code twice", .malformed(.parameters(.repeated("code")))),
        ("code and error", .malformed(.contradictory)),
        ("neither", .malformed(.empty)),
    ])
    func `a response with the right state and any other fault is unsafe`(
        kind: String, refusal: AuthorizationCallback.Refusal
    ) throws {
        let attempt = try attempt()
        let callback = try callback(to: attempt.authorizationURL) { pairs in
            switch kind {
            case "iss other": pairs[2] = .init(name: "iss", value: "https://evil.example.com")
            case "iss slash": pairs[2] = .init(name: "iss", value: "https://id.example.com/")
            case "iss missing": pairs.remove(at: 2)
            case "iss twice": pairs.append(pairs[2])
            case "code twice": pairs.append(pairs[0])
            case "code and error": pairs.append(.init(name: "error", value: "access_denied"))
            default: pairs.remove(at: 0)
            }
        }
        #expect(attempt.expectation.isAnswered(by: callback))
        let refused = attempt.refusal(of: callback)
        #expect(refused == .unsafe(.callback(refusal)))
    }

    /// RFC 9207 §2.4: a server whose metadata does not promise `iss` may omit it.
    @Test func `an iss parameter that the metadata does not promise may be missing`() throws {
        let attempt = try attempt(sendsIssuer: false)
        let callback = try callback(to: attempt.authorizationURL) { $0.remove(at: 2) }
        _ = try attempt.complete(with: callback)
    }

    @Test func `a callback at another redirect URI is unsafe`() throws {
        let attempt = try attempt(redirectURI: "http://127.0.0.1:50123/other")
        let callback = try callback(to: attempt.authorizationURL)
        let refused = attempt.refusal(of: callback)
        #expect(refused == .unsafe(.callback(.wrongRedirectURI)))
    }

    @Test func `a refusal by the user is reported without control characters`() throws {
        let attempt = try attempt()
        let callback = try callback(to: attempt.authorizationURL) { pairs in
            pairs[0] = .init(name: "error", value: "access_denied")
            pairs.append(.init(name: "error_description", value: "no\u{1B}[2J\u{202E} way"))
        }
        guard case .refused(let refusal)? = attempt.refusal(of: callback) else {
            Issue.record("not refused")
            return
        }
        #expect(refusal.code == .accessDenied)
        #expect(
            "\(SignInError.refused(refusal))".unicodeScalars.allSatisfy { $0.properties.generalCategory != .control })
    }
}
