import CounterfoilProtocol
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation

/// An authorization request that the client may make, before its scope is narrowed to its APIs.
///
/// Only ``AuthorizationValidation`` creates one. The client exists, the redirect URI is registered for it, and
/// the client is registered for every scope that it requests, unless its scope is narrowed later (``ScopeRule``).
struct CheckedAuthorization: Sendable {
    let target: VerifiedResponseTarget
    let request: AuthorizationRequest
    /// The requested scope; if the request names none, the default scope of the client.
    let scope: Scope
    /// The protection of the code; only what the policy of the client allows.
    let pkce: PKCEUse
    /// The user whom `id_token_hint` names; nil if there is no hint.
    let hinted: IDTokenHints.Hinted?

    fileprivate init(
        _ request: AuthorizationRequest, to target: VerifiedResponseTarget, scope: Scope, pkce: PKCEUse,
        hinted: IDTokenHints.Hinted?
    ) {
        self.target = target
        self.request = request
        self.scope = scope
        self.pkce = pkce
        self.hinted = hinted
    }
}

/// An authorization request that was checked, and whose scope was narrowed to its APIs.
///
/// Only ``AuthorizationValidation/narrow(_:to:approvers:releasing:)`` creates one.
struct ValidatedAuthorization: Sendable {
    private let checked: CheckedAuthorization
    /// The requested scope with defaults applied.
    ///
    /// If the request has APIs, the scope contains only their scopes and those of the server itself.
    let scope: Scope
    /// The APIs that the request names, or that follow from its scope; empty if the tokens have the default audience.
    let named: NamedResources
    /// The users who may allow the client something.
    let approvers: ClientApprovers
    /// The claims that the scopes of the owner release.
    let scopeClaims: ScopeClaims

    fileprivate init(
        _ checked: CheckedAuthorization, scope: Scope, named: NamedResources, approvers: ClientApprovers,
        scopeClaims: ScopeClaims
    ) {
        self.checked = checked
        self.scope = scope
        self.named = named
        self.approvers = approvers
        self.scopeClaims = scopeClaims
    }

    var target: VerifiedResponseTarget { checked.target }
    var client: RegisteredClient { checked.target.client }
    var request: AuthorizationRequest { checked.request }
    /// The redirect URI that gets the response.
    var redirectURI: ResponseRedirectURI { checked.target.redirectURI }
    var pkce: PKCEUse { checked.pkce }
    var hinted: IDTokenHints.Hinted? { checked.hinted }
}

extension ValidatedAuthorization {
    /// The scopes that cover individually requested claims (OpenID Connect Core §5.5), in addition to
    /// ``scope``.
    ///
    /// Claims of scopes that the client is not registered for are ignored, and so are those of a scope of an API that
    /// the request does not name.
    var claimScope: Scope {
        // OpenID Connect Core §3.1.2.1: without `openid` there is neither an ID token nor UserInfo.
        guard scope.contains(.openID), let claims = request.claims?.claims else { return Scope() }
        var covering = UserClaims.scope(covering: claims.idToken.union(claims.userInfo)).intersection(client.scope)
            .subtracting(scope)
        let candidates = client.scope.intersection(scopeClaims.scope.union(named.scope))
        for (place, names) in [(ReleasedClaims.Place.idToken, claims.idToken), (.userInfo, claims.userInfo)] {
            let covered = scope.union(covering)
            covering = covering.union(
                scopeClaims.scope(covering: names, in: place, within: candidates, besides: covered))
        }
        return covering
    }

    /// Every scope that the user is asked to allow: ``scope`` and ``claimScope``.
    var asked: Scope { scope.union(claimScope) }
}

/// An authorization request whose client and redirect URI are verified, so that the client can get a response.
///
/// Only ``AuthorizationValidation/target(of:client:settings:)`` creates one.
struct VerifiedResponseTarget: Sendable {
    let parsed: ParsedAuthorizationRequest
    let client: RegisteredClient
    let redirectURI: ResponseRedirectURI
    /// Whether the redirect URI is at the callback origin, where the app of another client can receive the response
    /// (see ``CallbackOrigin``).
    let isAtCallbackOrigin: Bool

    fileprivate init(
        _ parsed: ParsedAuthorizationRequest, client: RegisteredClient, redirectURI: ResponseRedirectURI,
        isAtCallbackOrigin: Bool
    ) {
        self.parsed = parsed
        self.client = client
        self.redirectURI = redirectURI
        self.isAtCallbackOrigin = isAtCallbackOrigin
    }
}

/// The rules of the authorization endpoint, in three steps.
///
/// Step one verifies the client and the redirect URI. Step two checks all other parameters. Step three narrows
/// the scope to the APIs that the request names.
enum AuthorizationValidation {
    /// Verifies the client and the redirect URI (step one); an error is shown on a page and never redirected.
    static func target(
        of parsed: ParsedAuthorizationRequest, client: RegisteredClient?, settings: ServerSettings
    ) throws(ResponseTargetError) -> VerifiedResponseTarget {
        guard let client else { throw .unknownClient(parsed.target.clientID) }
        guard client.type.usesAuthorizationCode || !client.redirectURIs.isEmpty else { throw .cannotSignIn(client) }
        let verdict = RedirectURIMatching.verdict(
            on: parsed.target.redirectURI,
            of: client,
            asksForOpenID: parsed.asksForOpenID,
            issuer: settings.issuer,
            callbackOrigin: settings.callbackOrigin,
            allowsDevelopment: settings.allowsDevelopmentRedirectURIs
        )
        switch verdict {
        case .matches(let match):
            return VerifiedResponseTarget(
                parsed, client: client, redirectURI: match.redirectURI,
                isAtCallbackOrigin: settings.callbackOrigin?.holds(match.redirectURI.uri) ?? false)
        case .refused(let refusal):
            throw .redirectURI(refusal, received: parsed.target.redirectURI, of: client)
        }
    }

    /// Throws if the client must push its requests, but the browser brought this one (RFC 9126 §4 and §5).
    static func checkPushed(_ target: VerifiedResponseTarget, settings: ServerSettings) throws(OAuthError) {
        guard target.parsed.pushed == nil,
            settings.requiresPushedRequests || target.client.policy.requiresPushedRequests
        else { return }
        let address = settings.issuer.endpoint(Endpoint.pushedAuthorization.path)
        let cause =
            settings.requiresPushedRequests
            ? "this is the setting --require-pushed-requests of this server"
            : setting("Require pushed requests", "--require-pushed-requests")
        throw OAuthError(
            .invalidRequest,
            "\(settings.requiresPushedRequests ? "this server" : "the registration of this client") requires pushed "
                + "authorization requests; post the request to \(address) and send only client_id and request_uri "
                + "(RFC 9126); \(cause)")
    }

    /// Checks all other parameters (step two); an error is sent to the verified redirect URI.
    static func validate(
        _ target: VerifiedResponseTarget, hints: IDTokenHints, signUp: SignUpPolicy, now: Date
    ) throws(OAuthError) -> CheckedAuthorization {
        let client = target.client
        var request = try target.parsed.parameters.get()
        request.redirectURI = target.redirectURI.requested

        try checkResponseMode(of: request, to: target)
        // RFC 6749 §4.1.2.1: the error code for a client that must not use this grant type is
        // `unauthorized_client`.
        guard client.type.usesAuthorizationCode else {
            throw OAuthError(.unauthorizedClient, "the client type \(client.type.rawValue) cannot request a code")
        }
        let pkce = try pkceUse(of: request, by: client, now: now)
        if client.policy.requiresState && request.state == nil {
            throw OAuthError(
                .invalidRequest,
                "state is missing: this client must send it; \(setting("Require state", "--require-state"))")
        }
        try checkAuthenticationContext(of: request, by: client)
        // Initiating User Registration via OpenID Connect §4.1: the metadata lists the value only if it is supported.
        guard signUp == .open || !request.prompt.contains(.create) else {
            throw OAuthError(.invalidRequest, "prompt=create is not supported: users cannot register at this server")
        }
        return CheckedAuthorization(
            request, to: target, scope: try scope(request.scope, assignedTo: client, under: client.scopeRule),
            pkce: pkce, hinted: try hinted(by: request, hints))
    }

    /// Narrows the scope to the APIs that the request names, or that follow from its scope (step three); an error is
    /// sent to the verified redirect URI.
    ///
    /// RFC 8707 §2.1: the user is asked only for scopes that the tokens will carry.
    static func narrow(
        _ checked: CheckedAuthorization, to named: NamedResources, approvers: ClientApprovers,
        releasing scopeClaims: ScopeClaims
    ) throws(OAuthError) -> ValidatedAuthorization {
        let client = checked.target.client
        let scope = try narrow(checked.scope, within: client.scope, under: client.scopeRule, to: named)
        return ValidatedAuthorization(
            checked, scope: scope, named: named, approvers: approvers, scopeClaims: scopeClaims)
    }

    /// Throws if a response in the mode of the request would not reach the client.
    private static func checkResponseMode(
        of request: AuthorizationRequest, to target: VerifiedResponseTarget
    ) throws(OAuthError) {
        guard let mode = request.responseMode, !target.takes(mode) else { return }
        switch mode {
        case .query: return
        case .formPost:
            throw OAuthError(.invalidRequest, "response_mode=form_post requires a redirect_uri of http or https")
        case .fragment:
            throw OAuthError(
                .invalidRequest,
                "response_mode=fragment reaches neither a web server nor a loopback listener; use response_mode=query")
        }
    }

    /// Throws if an essential `acr` claim cannot be satisfied (OpenID Connect Core §5.5.1).
    private static func checkAuthenticationContext(
        of request: AuthorizationRequest, by client: RegisteredClient
    ) throws(OAuthError) {
        guard !AskedContexts(of: request, by: client).isImpossible else {
            throw OAuthError(
                .unmetAuthenticationRequirements, "the server supports none of the acr values that the claims require")
        }
    }

    /// Reads `id_token_hint`, which must be an ID token that this server issued (OpenID Connect Core §3.1.2.1).
    private static func hinted(
        by request: AuthorizationRequest, _ hints: IDTokenHints
    ) throws(OAuthError) -> IDTokenHints.Hinted? {
        guard let token = request.idTokenHint else { return nil }
        do { return try hints.read(token) } catch {
            throw OAuthError(.invalidRequest, "id_token_hint is not an ID token of this server", reason: "\(error)")
        }
    }

    /// Returns the protection of the code, and throws if it is not sufficient for the policy of the client.
    ///
    /// RFC 7636 §4.4.1, RFC 8252 §8.1: a public client needs PKCE for every kind of redirect URI, unless an
    /// administrator has exempted it. RFC 9700 §2.1.1: a confidential client may use OpenID's `nonce` instead.
    private static func pkceUse(
        of request: AuthorizationRequest, by client: RegisteredClient, now: Date
    ) throws(OAuthError) -> PKCEUse {
        let policy = client.policy.pkce
        if let challenge = request.presentedChallenge { return try pkceUse(of: challenge, under: policy) }
        if policy.isExempt(client.type, at: now) { return .none }
        // A stored policy alone does not let a public client use `nonce`: nothing but PKCE protects its codes. A client
        // that is not registered for `openid` could not use `nonce` either.
        guard PKCEPolicy.safe(for: client.type).contains(.s256OrNonce), policy == .s256OrNonce,
            client.scope.contains(.openID)
        else {
            throw missing("code_challenge is missing", policy == .s256OrPlain ? "PKCE (S256 or plain)" : "PKCE (S256)")
        }
        guard request.nonce != nil else {
            throw missing("code_challenge and nonce are missing", "PKCE (S256) or the scope openid with a nonce")
        }
        guard request.scope?.contains(.openID) ?? false else {
            throw missing(
                "code_challenge is missing, and nonce has no effect without the scope openid",
                "PKCE (S256) or the scope openid with a nonce")
        }
        return .nonce
    }

    /// Returns the protection that a challenge gives, and throws if the policy does not accept its method.
    static func pkceUse(of challenge: PresentedChallenge, under policy: PKCEPolicy) throws(OAuthError) -> PKCEUse {
        switch (challenge, policy) {
        case (.s256, _): return .s256
        case (.plain, .s256OrPlain): return .plain
        case (.plain(_, isNamed: false), _):
            throw OAuthError(.invalidRequest, "code_challenge_method is missing; it must be S256")
        case (.plain(_, isNamed: true), _):
            throw OAuthError(.invalidRequest, "the only code_challenge_method of this server is S256")
        }
    }

    /// Creates the error for a request whose code would be unprotected.
    ///
    /// RFC 7636 §4.4.1: the description explains what is missing.
    private static func missing(_ parameters: String, _ protection: String) -> OAuthError {
        OAuthError(
            .invalidRequest,
            "\(parameters): this client must use \(protection); \(setting("PKCE", "--pkce"))")
    }

    /// Names the setting of a client that is the cause of an error, by its label and by its option.
    static func setting(_ label: String, _ option: String) -> String {
        "this is the setting \(label) in its registration (app edit \(option))"
    }
}
