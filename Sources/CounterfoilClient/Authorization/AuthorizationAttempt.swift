public import CounterfoilProtocol

/// One attempt to obtain an authorization code with PKCE (RFC 6749 §4.1, RFC 7636).
///
/// Each attempt generates its own state, nonce and code verifier. It cannot be copied, and
/// ``complete(with:)`` consumes it. Using these values twice does not compile.
public struct AuthorizationAttempt: ~Copyable, Sendable {
    /// The URL of the authorization request, which the browser opens (RFC 6749 §4.1.1).
    public private(set) var authorizationURL: String
    /// The checks that a receiver applies to callbacks while it waits.
    public let expectation: CallbackExpectation

    private let keepsRefreshToken: Bool
    private let configuration: AuthorizationServerConfiguration
    private let request: AuthorizationRequest
    private let redirectURI: RedirectURI
    /// The parameters of the request, which ``push(through:)`` sends to the server.
    let form: FormParameters
    private let verifier: CodeVerifier
    private let began: ContinuousClock.Instant
    private let authentication: ClientAuthentication
    private let prover: DPoPProver?

    /// Optional settings of an attempt.
    public struct Options: Sendable {
        /// `login_hint`: the user that the sign-in page suggests; nil omits the parameter.
        public var loginHint: String?
        /// `prompt`; an empty set omits the parameter.
        public var prompt: Set<AuthorizationRequest.Prompt> = []
        /// `max_age`: the maximum time since the user authenticated, in seconds; nil omits the parameter.
        ///
        /// The ID token must prove it (OpenID Connect Core §3.1.3.7).
        public var maxAge: Int?
        /// `acr_values`: acceptable authentication contexts in order of preference; an empty list omits
        /// the parameter.
        public var authenticationContexts: [String] = []
        /// `resource`: the APIs for which the token is requested (RFC 8707 §2.1); an empty list omits the parameter.
        public var resources: [Resource] = []
        /// The client authentication at the token and pushed authorization request endpoints.
        public var authentication = ClientAuthentication.none
        /// Whether the tokens are bound to a key that the attempt generates (RFC 9449).
        public var bindsTokens = false
        /// Whether the client already has a refresh token; some vendors issue another one only on special request.
        public var hasRefreshToken = false
        /// Whether `redirect_uri` is omitted, which a server allows if exactly one is registered (RFC
        /// 6749 §3.1.2.3).
        ///
        /// The token request then omits it too (RFC 6749 §4.1.3).
        public var omitsRedirectURI = false
        /// Whether to keep a refresh token; if false, one that the server issues is discarded and never stored.
        public var keepsRefreshToken = true

        /// Creates the default options, which add no parameters to the request.
        public init() {}
    }

    /// Begins an attempt with new random values.
    ///
    /// `redirectURI` belongs to a receiver that already listens. An empty scope is not sent.
    public init(
        at configuration: AuthorizationServerConfiguration,
        clientID: ClientIdentifier,
        redirectURI: RedirectURI,
        scope: Scope,
        options: Options = Options()
    ) {
        self.init(
            at: configuration, clientID: clientID, redirectURI: redirectURI, scope: scope, options: options,
            random: RandomBytes())
    }

    /// Begins an attempt that takes its random values from `random`.
    package init(
        at configuration: AuthorizationServerConfiguration,
        clientID: ClientIdentifier,
        redirectURI: RedirectURI,
        scope: Scope,
        options: Options,
        random: RandomBytes
    ) {
        let state = State(random: random)
        began = .now
        verifier = CodeVerifier(random: random)
        var request = AuthorizationRequest(
            clientID: clientID,
            redirectURI: options.omitsRedirectURI ? nil : redirectURI,
            scope: scope,
            state: state,
            codeChallenge: CodeChallenge(of: verifier),
            nonce: scope.contains(.openID) ? Nonce(random: random) : nil,
            prompt: options.prompt,
            maxAge: options.maxAge,
            loginHint: options.loginHint,
            resources: options.resources
        )
        request.authenticationContexts = options.authenticationContexts
        self.request = request
        authentication = options.authentication
        keepsRefreshToken = options.keepsRefreshToken
        prover = options.bindsTokens ? DPoPProver(ProofKey()) : nil
        var form = configuration.behavior.authorizationForm(of: request, hasRefreshToken: options.hasRefreshToken)
        // RFC 9449 §10: `dpop_jkt` binds the code to the key before the code exists.
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
    /// Nothing between the client and the server can read or change a pushed request.
    /// ``authorizationURL`` then contains only `client_id` and `request_uri`.
    public mutating func push(through transport: any HTTPTransport) async throws(SignInError) {
        let reference = try await PushedAuthorizationRequest(
            server: configuration, clientID: request.clientID, authentication: authentication, prover: prover,
            transport: transport
        ).push(form)
        authorizationURL = configuration.authorizationEndpoint.uri.appending(
            FormParameters(["client_id": request.clientID.rawValue, "request_uri": reference]))
    }

    /// Consumes the attempt and returns the code if the callback passes every check.
    public consuming func complete(with callback: AuthorizationCallback) throws(SignInError) -> ValidatedCode {
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
                // Add the duration of the attempt: the time that the user took for it must not make the
                // sign-in too old.
                maxAge: request.maxAge.map { $0 + Int(began.duration(to: .now).components.seconds) + 1 },
                configuration: configuration.serving(callback),
                prover: prover,
                keepsRefreshToken: keepsRefreshToken,
                details: configuration.behavior.callbackServer?.details(of: callback) ?? [:])
        }
    }
}
