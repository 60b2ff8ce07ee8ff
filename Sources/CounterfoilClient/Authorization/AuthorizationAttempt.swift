@_spi(Counterfoil) package import CounterfoilProtocol

/// One attempt to obtain an authorization code with PKCE (RFC 6749 §4.1, RFC 7636).
///
/// Each attempt generates a new state, nonce and code verifier. An attempt cannot be copied, and
/// ``complete(with:)`` consumes it. Code that would use these values twice therefore does not compile.
package struct AuthorizationAttempt: ~Copyable, Sendable {
    /// The URL of the authorization request, which the browser opens (RFC 6749 §4.1.1).
    package private(set) var authorizationURL: String
    /// The checks that a redirect receiver applies to callbacks while it waits.
    package let expectation: CallbackExpectation

    private let keepsRefreshToken: Bool
    private let trustedAudiences: Set<String>
    private let configuration: AuthorizationServerConfiguration
    private let request: AuthorizationRequest
    private let redirectURI: RedirectURI
    /// The parameters of the request, which ``push(through:)`` sends to the server.
    let form: FormParameters
    private let verifier: CodeVerifier
    private let began: ContinuousClock.Instant
    private let authentication: ClientAuthentication
    private let prover: DPoPProver?

    /// Begins an attempt with new random values.
    ///
    /// `redirectURI` is the redirect URI of a receiver that already listens. If `scope` is empty, the request
    /// contains no `scope` parameter.
    package init(
        at configuration: AuthorizationServerConfiguration,
        clientID: ClientIdentifier,
        redirectURI: RedirectURI,
        scope: Scope,
        options: NativeSignIn.Options = NativeSignIn.Options(),
        random: RandomBytes = RandomBytes()
    ) {
        let state = OAuthState(random: random)
        began = .now
        verifier = CodeVerifier(random: random)
        var request = AuthorizationRequest(
            clientID: clientID,
            redirectURI: options.omitsRedirectURI ? nil : redirectURI,
            scope: scope,
            state: state,
            codeChallenge: CodeChallenge(of: verifier),
            nonce: scope.contains(.openID) ? Nonce(random: random) : nil,
            prompt: options.prompt(for: scope, at: configuration),
            maxAge: options.maxAge,
            loginHint: options.loginHint,
            resources: options.resources
        )
        request.authenticationContexts = options.authenticationContexts
        request.deviceName = options.deviceName
        self.request = request
        authentication = options.authentication
        keepsRefreshToken = options.keepsRefreshToken
        trustedAudiences = options.trustedAudiences
        prover = options.bindsTokens ? DPoPProver(ProofKey()) : nil
        var form = configuration.behavior.authorizationForm(
            of: request, hasRefreshToken: options.hasRefreshToken, additional: options.additionalParameters)
        // RFC 9449 §10: `dpop_jkt` asks the server to bind the code to the DPoP key of this attempt. A stolen code
        // cannot be redeemed without the private key.
        form.append("dpop_jkt", ifPresent: prover?.key.thumbprint)
        self.form = form
        authorizationURL = configuration.authorizationEndpoint.uri.appending(form)
        expectation = CallbackExpectation(
            redirectURI: redirectURI, state: state,
            question: .authorization(
                .init(
                    issuer: configuration.issuer, issuerIsRequired: configuration.sendsIssuerInResponses,
                    callbackServer: configuration.behavior.callbackServer)))
        self.configuration = configuration
        self.redirectURI = redirectURI
    }

    /// Pushes the request to the server, so that the browser carries only a reference to it (RFC 9126 §2).
    ///
    /// The browser and other programs can neither read nor change a pushed request. Afterwards ``authorizationURL``
    /// contains only `client_id` and `request_uri`.
    ///
    /// Returns the time in which the browser must open the request; nil if the server does not say it.
    @discardableResult
    package mutating func push(through transport: any HTTPTransport) async throws(SignInError) -> Duration? {
        let reference = try await PushedAuthorizationRequest(
            server: configuration, clientID: request.clientID, authentication: authentication, prover: prover,
            transport: transport
        ).push(form)
        authorizationURL = configuration.authorizationEndpoint.uri.appending(
            FormParameters(["client_id": request.clientID.rawValue, "request_uri": reference.uri]))
        return reference.lifetime
    }

    /// Consumes the attempt and returns the code if the callback passes every check.
    package consuming func complete(with callback: AuthorizationCallback) throws(SignInError) -> ValidatedCode {
        switch expectation.verdict(on: callback) {
        case .unrelated(let refusal), .answer(.unsafe(let refusal)): throw .unsafe(.callback(refusal))
        case .answer(.refused(let error)): throw SignInError(error)
        case .answer(.signedOut): throw .unsafe(.callback(.wrongState))
        case .answer(.code(let code)):
            return ValidatedCode(
                exchange: TokenRequest.CodeExchange(
                    code: code, redirectURI: request.redirectURI?.rawValue, codeVerifier: verifier,
                    resources: request.resources),
                clientID: request.clientID, authentication: authentication, scope: request.scope ?? Scope(),
                nonce: request.nonce,
                // `max_age` limits the age of the authentication at the time of the request. The ID token is checked
                // later, so add the time that has passed since the request.
                maxAge: request.maxAge.map { $0 + Int(began.duration(to: .now).components.seconds) + 1 },
                configuration: configuration.serving(callback),
                prover: prover,
                keepsRefreshToken: keepsRefreshToken,
                trustedAudiences: trustedAudiences,
                details: configuration.behavior.callbackServer?.details(of: callback) ?? [:])
        }
    }
}
