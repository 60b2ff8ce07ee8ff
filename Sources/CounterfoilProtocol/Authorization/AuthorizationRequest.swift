/// A request to the authorization endpoint.
///
/// RFC 6749 §4.1.1, RFC 7636 §4.3, OpenID Connect Core §3.1.2.1. Parsing checks only the syntax of the
/// parameters. The server then decides whether the client is allowed to make the request.
public struct AuthorizationRequest: Sendable, Hashable {
    /// The client that makes the request (parameter `client_id`).
    public var clientID: ClientIdentifier
    /// The URI to which the server sends the response (parameter `redirect_uri`).
    ///
    /// Nil if omitted, which is allowed if the client has registered exactly one redirect URI (RFC 6749 §3.1.2.3).
    /// OpenID Connect requires the parameter.
    public var redirectURI: RedirectURI?
    /// The scope that the client requests (parameter `scope`); nil if omitted.
    public var scope: Scope?
    /// The value that the server returns in the response (parameter `state`); nil if omitted.
    public var state: OAuthState?
    /// The PKCE challenge (parameters `code_challenge` and `code_challenge_method`); nil if both are omitted.
    public var presentedChallenge: PresentedChallenge?
    /// The key of which the token request must prove possession (parameter `dpop_jkt`, RFC 9449 §10); nil if omitted.
    public var keyThumbprint: KeyThumbprint?
    /// The value that the server copies into the ID token (parameter `nonce`); nil if omitted.
    public var nonce: Nonce?
    /// The pages that the server must show or must not show (parameter `prompt`); empty if omitted.
    public var prompt: Set<Prompt>
    /// The maximum time since the user signed in, in seconds (parameter `max_age`); nil if omitted.
    public var maxAge: Int?
    /// The username or email with which the user probably signs in (parameter `login_hint`); nil if omitted.
    ///
    /// Parsing truncates the value to 320 bytes.
    public var loginHint: String?
    /// The name of the device on which the client runs (parameter `device_name`, an extension); nil if omitted.
    ///
    /// The user sees it in the list of sign-ins. Parsing truncates the value to 320 bytes.
    public var deviceName: String?
    /// The preferred languages of the pages, as unparsed language tags (parameter `ui_locales`); nil if omitted.
    ///
    /// Parsing truncates the value to 320 bytes.
    public var uiLocales: String?
    /// The APIs for which the client requests tokens (parameter `resource`, RFC 8707 §2.1); empty if omitted.
    public var resources: [Resource]

    /// The way in which the server returns the response (parameter `response_mode`); nil means ``ResponseMode/query``.
    public var responseMode: ResponseMode?
    /// The authentication contexts that the client prefers, in order of preference (parameter `acr_values`).
    ///
    /// The server may use another context (OpenID Connect Core §3.1.2.1). Parsing keeps the first 16.
    public var authenticationContexts: [String] = []
    /// The individual claims that the client requests (parameter `claims`); nil if omitted.
    public var claims: RequestedClaims.Parameter?
    /// An unverified ID token that identifies the expected user (parameter `id_token_hint`); nil if omitted.
    public var idTokenHint: IDToken?

    /// A value of `prompt` (OpenID Connect Core §3.1.2.1).
    public enum Prompt: String, Sendable, Hashable, CaseIterable {
        /// The server must not show a page; it returns an error if one would be required.
        case none
        /// The user must sign in again.
        case login
        /// The user must be asked for consent again.
        case consent
        /// The user must select an account.
        case selectAccount = "select_account"
        /// The user is shown the page on which to create an account (Initiating User Registration via OpenID Connect
        /// §4).
        case create
    }

    /// Creates a request; parameters that are nil or empty are not sent.
    public init(
        clientID: ClientIdentifier,
        redirectURI: RedirectURI? = nil,
        scope: Scope? = nil,
        state: OAuthState? = nil,
        codeChallenge: CodeChallenge? = nil,
        nonce: Nonce? = nil,
        prompt: Set<Prompt> = [],
        maxAge: Int? = nil,
        loginHint: String? = nil,
        uiLocales: String? = nil,
        resources: [Resource] = []
    ) {
        self.clientID = clientID
        self.redirectURI = redirectURI
        self.scope = scope
        self.state = state
        presentedChallenge = codeChallenge.map { .s256($0) }
        self.nonce = nonce
        self.prompt = prompt
        self.maxAge = maxAge
        self.loginHint = loginHint
        self.uiLocales = uiLocales
        self.resources = resources
    }

    /// The S256 challenge that the verifier must match; nil if the request contains no challenge.
    public var codeChallenge: CodeChallenge? { presentedChallenge?.challenge }

    /// The request as form parameters, in the order in which the standards list them.
    ///
    /// A challenge is always sent with the method S256.
    public var parameters: FormParameters {
        var form = FormParameters(["response_type": "code", "client_id": clientID.rawValue])
        form.append("redirect_uri", ifPresent: redirectURI?.rawValue)
        form.append("scope", ifPresent: scope.flatMap { $0.isEmpty ? nil : $0.description })
        form.append("state", ifPresent: state?.exposed)
        form.append("response_mode", ifPresent: responseMode?.rawValue)
        form.append("code_challenge", ifPresent: codeChallenge?.rawValue)
        form.append("code_challenge_method", ifPresent: codeChallenge.map { _ in CodeChallenge.method })
        form.append("dpop_jkt", ifPresent: keyThumbprint?.rawValue)
        form.append("nonce", ifPresent: nonce?.exposed)
        let prompts = Prompt.allCases.filter(prompt.contains).map(\.rawValue)
        form.append("prompt", ifPresent: prompts.isEmpty ? nil : prompts.joined(separator: " "))
        form.append("max_age", ifPresent: maxAge.map(String.init))
        form.append("login_hint", ifPresent: loginHint)
        form.append("device_name", ifPresent: deviceName)
        let contexts = authenticationContexts.joined(separator: " ")
        form.append("acr_values", ifPresent: contexts.isEmpty ? nil : contexts)
        form.append("claims", ifPresent: claims?.text)
        form.append("id_token_hint", ifPresent: idTokenHint?.exposed)
        form.append("ui_locales", ifPresent: uiLocales)
        form.append(resources)
        return form
    }

    /// Returns the URL of the authorization endpoint with the ``parameters`` of this request in its query.
    ///
    /// The query that the endpoint already has is kept (RFC 6749 §3.1).
    public func url(at endpoint: AbsoluteURI) -> String { endpoint.appending(parameters) }
}

extension AbsoluteURI {
    /// Returns the URI with parameters appended to its query, after those it already contains (RFC 6749 §3.1).
    @_spi(Counterfoil) public func appending(_ parameters: FormParameters) -> String {
        let separator = query == nil ? "?" : query == "" ? "" : "&"
        return rawValue + separator + parameters.encoded
    }
}
