public import CounterfoilProtocol

/// One attempt to obtain an authorization, from the address that the browser opens to the code that comes back.
///
/// RFC 6749 §4.1, RFC 7636. It owns the state, the nonce and the verifier of this attempt and nothing else ever has them;
/// because it cannot be copied and ends with ``complete(with:)``, using them a second time does not compile.
public struct AuthorizationAttempt: ~Copyable, Sendable {
    /// The address that the person's browser opens (RFC 6749 §4.1.1).
    public private(set) var authorizationURL: String
    /// What the answer must be; a receiver waits for it.
    public let expectation: CallbackExpectation

    private let keepsRefreshToken: Bool
    private let configuration: AuthorizationServerConfiguration
    private let request: AuthorizationRequest
    private let redirectURI: RedirectURI
    /// The parameters of the request, for a server to which they are pushed.
    let form: FormParameters
    private let verifier: CodeVerifier
    private let began: ContinuousClock.Instant
    private let authentication: ClientAuthentication
    private let prover: Prover?

    /// What an application may ask besides what every attempt asks.
    public struct Options: Sendable {
        /// `login_hint`: whom to suggest on the sign-in page; nil sends none.
        public var loginHint: String?
        /// `prompt`; empty sends none.
        public var prompt: Set<AuthorizationRequest.Prompt> = []
        /// `max_age`: the longest time since the person signed in, in seconds; nil sends none.
        ///
        /// The ID token must prove it (OpenID Connect Core §3.1.3.7).
        public var maxAge: Int?
        /// `acr_values`: the ways of signing in of which one would do, the best first; empty sends none.
        public var authenticationContexts: [String] = []
        /// `resource`: the APIs that the token is to be for (RFC 8707 §2.1); empty sends none.
        public var resources: [Resource] = []
        /// How the client proves itself at the token endpoint.
        public var authentication = ClientAuthentication.none
        /// Whether the tokens are to be bound to a key that this attempt makes (RFC 9449).
        public var bindsTokens = false
        /// Whether a refresh token is kept already; some vendors give another one only when asked in a special way.
        public var hasRefreshToken = false
        /// Whether `redirect_uri` is left out, which a server allows when exactly one is registered (RFC 6749 §3.1.2.3).
        ///
        /// It is then left out of the token request too (RFC 6749 §4.1.3).
        public var omitsRedirectURI = false
        /// False for an app that does not use refresh tokens: one that the server issues is dropped and never stored.
        public var keepsRefreshToken = true

        /// Options that ask nothing more.
        public init() {}
    }

    /// Begins an attempt with fresh values.
    ///
    /// `redirectURI` is where the answer will arrive: a receiver's, which already listens. An empty scope is not sent.
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

    /// Begins an attempt whose random values come from elsewhere.
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
        prover = options.bindsTokens ? Prover(ProofKey()) : nil
        var form = configuration.behavior.authorizationForm(of: request, hasRefreshToken: options.hasRefreshToken)
        // RFC 9449 §10: the code is bound to the key before it exists.
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

    /// Sends the request to the server beforehand, so that the browser carries only a reference to it.
    ///
    /// RFC 9126 §2. Nobody between here and the server sees or changes the request. ``authorizationURL`` is then another.
    public mutating func push(through transport: any HTTPTransport) async throws(SignInError) {
        let reference = try await PushedAuthorizationRequest(
            server: configuration, clientID: request.clientID, authentication: authentication, prover: prover,
            transport: transport
        ).push(form)
        authorizationURL = configuration.authorizationEndpoint.uri.appending(
            FormParameters(["client_id": request.clientID.rawValue, "request_uri": reference]))
    }

    /// Ends the attempt with what arrived; the code comes out only if every rule holds.
    public consuming func complete(with callback: AuthorizationCallback) throws(SignInError) -> ValidatedCode {
        switch expectation.verdict(on: callback) {
        case .stranger(let refusal), .answer(.unsafe(let refusal)): throw .unsafe(.callback(refusal))
        case .answer(.refused(let error)): throw SignInError(error)
        case .answer(.signedOut): throw .unsafe(.callback(.wrongState))
        case .answer(.code(let code)):
            return ValidatedCode(
                exchange: TokenRequest.CodeExchange(
                    code: code, redirectURI: request.redirectURI?.rawValue, codeVerifier: verifier,
                    resources: request.resources),
                clientID: request.clientID, authentication: authentication, scope: request.scope ?? Scope(),
                nonce: request.nonce,
                // What the person took for this very request does not make their sign-in too old.
                maxAge: request.maxAge.map { $0 + Int(began.duration(to: .now).components.seconds) + 1 },
                configuration: configuration.serving(callback),
                prover: prover,
                keepsRefreshToken: keepsRefreshToken,
                details: configuration.behavior.callbackServer?.details(of: callback) ?? [:])
        }
    }
}
