import CounterfoilProtocol
import CounterfoilTokens
import Foundation

/// An authorization request that its application may make.
///
/// Only ``AuthorizationValidation`` makes one: the application exists, the redirect URI is one of its own, and everything
/// that the request asks is within what it was registered for.
struct ValidatedAuthorization: Sendable {
    /// The application.
    let client: RegisteredClient
    /// The request.
    let request: AuthorizationRequest
    /// Where the answer goes.
    let redirectURI: RedirectURI
    /// Whether that is at the second origin, where an app can receive the answer of another one (see ``CallbackOrigin``).
    let isAtCallbackOrigin: Bool
    /// What is asked for, defaults applied; of the APIs that the request names, and of OpenID Connect, if it names any.
    let scope: Scope
    /// The APIs that the request names; none for the service itself.
    let apis: [NamedResources.Known]
    /// How the application proves that it began this.
    let pkce: PKCEUse
    /// Whom the request means by `id_token_hint`; nil when it names nobody.
    let hinted: IDTokenHints.Hinted?

    fileprivate init(
        client: RegisteredClient, request: AuthorizationRequest, redirectURI: RedirectURI,
        isAtCallbackOrigin: Bool, scope: Scope,
        apis: [NamedResources.Known] = [], pkce: PKCEUse, hinted: IDTokenHints.Hinted?
    ) {
        self.client = client
        self.request = request
        self.redirectURI = redirectURI
        self.isAtCallbackOrigin = isAtCallbackOrigin
        self.scope = scope
        self.apis = apis
        self.pkce = pkce
        self.hinted = hinted
    }
}

extension ValidatedAuthorization {
    /// The scopes that cover claims which are asked for by name (OpenID Connect Core §5.5), beside those of ``scope``.
    ///
    /// Only those that the client is registered for: a claim of any other is left out.
    var claimScope: Scope {
        // OpenID Connect Core §3.1.2.1: without openid there is neither an ID token nor UserInfo.
        guard scope.contains(.openID), let claims = request.claims?.claims else { return Scope() }
        let covering = PersonClaims.scope(covering: claims.idToken.union(claims.userInfo))
        return Scope(covering.intersection(client.scope).tokens.filter { !scope.contains($0) })
    }

    /// Everything that the user is asked to allow.
    var asked: Scope { scope.union(claimScope) }
}

/// Where the answer to a request may be sent: an application of ours at an address of its own.
struct VerifiedAddressee: Sendable {
    let client: RegisteredClient
    let redirectURI: RedirectURI
    /// Whether that is at the second origin.
    let isAtCallbackOrigin: Bool
    /// The one that the request names; nil when it is left out.
    fileprivate let requestedURI: RedirectURI?
}

/// Why a request gets a page instead of an answer to its application (RFC 6749 §4.1.2.1).
enum UnansweredRequest: Error, CustomStringConvertible {
    case addressee(AuthorizationRequest.Addressee.Refusal)
    case unknownClient
    case signsNobodyIn(DisplayName)
    case redirectURI(RedirectURIMatching.Refusal, of: DisplayName)

    /// What happened, in English.
    var description: String { Words.english(text) }

    /// What happened, for a page.
    var text: Text {
        switch self {
        case .addressee(let refusal): refusal.text
        case .unknownClient: Text(RequestPhrase.unknownClient)
        case .signsNobodyIn: Text(RequestPhrase.signsNobodyIn)
        case .redirectURI(let refusal, _): refusal.text
        }
    }

    /// Whose request it is; nil where that is not known.
    var application: DisplayName? {
        switch self {
        case .addressee, .unknownClient: nil
        case .signsNobodyIn(let name), .redirectURI(_, let name): name
        }
    }
}

/// The rules for what an application may ask of the authorization endpoint, in three steps: first whether there is anybody to
/// answer, then what the answer must be, then what of it is for the APIs that are named.
enum AuthorizationValidation {
    /// Step one; a refusal is shown on a page and never redirected.
    static func addressee(
        of addressee: AuthorizationRequest.Addressee,
        client: RegisteredClient?,
        form: FormParameters,
        settings: ServerSettings
    ) throws(UnansweredRequest) -> VerifiedAddressee {
        guard let client else { throw .unknownClient }
        guard client.type.usesAuthorizationCode || !client.redirectURIs.isEmpty else {
            throw .signsNobodyIn(client.displayName)
        }
        let verdict = RedirectURIMatching.verdict(
            on: addressee.redirectURI,
            of: client,
            asksForOpenID: form.all("scope").contains { $0.split(separator: " ").contains("openid") },
            issuer: settings.issuer,
            callbackOrigin: settings.callbackOrigin
        )
        switch verdict {
        case .matches(let match):
            return VerifiedAddressee(
                client: client, redirectURI: match.uri,
                isAtCallbackOrigin: settings.callbackOrigin?.holds(match.uri) ?? false,
                requestedURI: match.wasGiven ? match.uri : nil)
        case .refused(let refusal):
            throw .redirectURI(refusal, of: client.displayName)
        }
    }

    /// Step two; a refusal is sent to the verified redirect URI.
    static func validate(
        _ form: FormParameters,
        for verified: VerifiedAddressee,
        hints: IDTokenHints,
        now: Date
    ) throws(OAuthError) -> ValidatedAuthorization {
        let client = verified.client
        let request = try AuthorizationRequest(parsing: form, from: client.id, at: verified.requestedURI)

        try checkResponseMode(of: request, at: verified.redirectURI)
        // RFC 6749 §4.1.2.1
        guard client.type.usesAuthorizationCode else {
            throw OAuthError(.unauthorizedClient, "an application of the type \(client.type.rawValue) gets no code")
        }
        let pkce = try pkceUse(of: request, under: client.policy.pkce, now: now)
        if client.policy.requiresState && request.state == nil {
            throw OAuthError(.invalidRequest, "the parameter state is missing; this application must send it")
        }
        try checkAuthenticationContext(of: request)
        return ValidatedAuthorization(
            client: client,
            request: request,
            redirectURI: verified.redirectURI,
            isAtCallbackOrigin: verified.isAtCallbackOrigin,
            scope: try scope(request.scope, assignedTo: client),
            pkce: pkce,
            hinted: try hinted(by: request, hints)
        )
    }

    /// Step three; a refusal is sent to the verified redirect URI.
    ///
    /// RFC 8707 §2.1: a person is asked for nothing that the tokens will not carry. Beside the scopes of the APIs stay those of
    /// OpenID Connect, which are for the ID token, for UserInfo and for refresh tokens.
    static func narrow(
        _ authorization: ValidatedAuthorization, to named: NamedResources
    ) throws(OAuthError) -> ValidatedAuthorization {
        let named = try named.checked()
        guard !named.known.isEmpty else { return authorization }
        let scope = named.scope
        guard authorization.scope.tokens.contains(where: scope.contains) else {
            throw OAuthError(
                .invalidScope,
                scope.isEmpty
                    ? "no scopes are registered for the resource \(named.description), so nothing can be allowed there"
                    : "nothing of the scope is one of the resource \(named.description), which has: \(scope)")
        }
        return ValidatedAuthorization(
            client: authorization.client,
            request: authorization.request,
            redirectURI: authorization.redirectURI,
            isAtCallbackOrigin: authorization.isAtCallbackOrigin,
            scope: Scope(
                authorization.scope.tokens.filter { scope.contains($0) || ScopeDefinition.ofPeople.contains($0) }),
            apis: named.known,
            pkce: authorization.pkce,
            hinted: authorization.hinted
        )
    }

    /// OAuth 2.0 Form Post Response Mode §2: only a server can be posted to.
    private static func checkResponseMode(
        of request: AuthorizationRequest, at redirectURI: RedirectURI
    ) throws(OAuthError) {
        guard request.responseMode != .formPost || redirectURI.takesForms else {
            throw OAuthError(.invalidRequest, "response_mode=form_post needs a redirect_uri of http or https")
        }
    }

    /// OpenID Connect Core §5.5.1.1: where one way of signing in is essential, no other will do.
    private static func checkAuthenticationContext(of request: AuthorizationRequest) throws(OAuthError) {
        let required = request.claims?.requiredContexts ?? []
        guard required.isEmpty || AuthenticationContext.all.contains(where: required.contains) else {
            throw OAuthError(
                .unmetAuthenticationRequirements, "nobody can sign in here in a way that the claim acr requires")
        }
    }

    /// OpenID Connect Core §3.1.2.1: a hint is one of our ID tokens, or the request is wrong.
    private static func hinted(
        by request: AuthorizationRequest, _ hints: IDTokenHints
    ) throws(OAuthError) -> IDTokenHints.Hinted? {
        guard let token = request.idTokenHint else { return nil }
        do { return try hints.read(token) } catch {
            throw OAuthError(.invalidRequest, "id_token_hint is not an ID token of this server", reason: "\(error)")
        }
    }

    /// RFC 7636 §4.4.1, RFC 8252 §8.1: the same for every kind of redirect URI, unless an administrator has excepted the
    /// application.
    private static func pkceUse(
        of request: AuthorizationRequest, under policy: PKCEPolicy, now: Date
    ) throws(OAuthError) -> PKCEUse {
        switch (request.presentedChallenge, policy) {
        case (.s256?, _): return .s256
        case (.plain?, .s256OrPlain): return .plain
        case (.plain(_, isNamed: false)?, _):
            throw OAuthError(.invalidRequest, "code_challenge_method is missing; it must be S256")
        case (.plain(_, isNamed: true)?, _):
            throw OAuthError(.invalidRequest, "the only code_challenge_method of this server is S256")
        case (nil, _):
            guard policy.isExempt(at: now) else { throw OAuthError(.invalidRequest, "code challenge required") }
            return .none
        }
    }

    /// RFC 6749 §3.3: a request without a scope asks for every scope of the application that is not of OpenID Connect.
    private static func scope(_ asked: Scope?, assignedTo client: RegisteredClient) throws(OAuthError) -> Scope {
        guard let asked else {
            let standard = Set(ScopeDefinition.standard.map(\.token))
            return Scope(client.scope.tokens.filter { !standard.contains($0) })
        }
        // OpenID Connect Core §11: ignored where no refresh token can be given.
        let getsNone = client.policy.refreshTokens == .never || !client.scope.contains(.offlineAccess)
        let wanted = getsNone ? Scope(asked.tokens.filter { $0 != .offlineAccess }) : asked
        guard wanted.isSubset(of: client.scope) else {
            let excess = wanted.tokens.filter { !client.scope.contains($0) }
            throw OAuthError(
                .invalidScope,
                "this application is not registered for: \(Scope(excess))"
            )
        }
        return wanted
    }
}
