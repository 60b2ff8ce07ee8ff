/// What an application asks of the authorization endpoint.
///
/// RFC 6749 §4.1.1, RFC 7636 §4.3, OpenID Connect Core §3.1.2.1. The value is syntactically sound; whether the application
/// may ask it is the server's to judge.
public struct AuthorizationRequest: Sendable, Hashable {
    /// `client_id`.
    public var clientID: ClientIdentifier
    /// `redirect_uri`; nil when it is left out.
    public var redirectURI: RedirectURI?
    /// `scope`; nil when it is left out.
    public var scope: Scope?
    /// `state`; nil when it is left out.
    public var state: State?
    /// `code_challenge` and `code_challenge_method`; nil when both are left out.
    public var presentedChallenge: PresentedChallenge?
    /// `nonce`; nil when it is left out.
    public var nonce: Nonce?
    /// `prompt`; empty when it is left out.
    public var prompt: Set<Prompt>
    /// `max_age` in seconds; nil when it is left out.
    public var maxAge: Int?
    /// `login_hint`, at most 320 bytes; nil when it is left out.
    public var loginHint: String?
    /// `ui_locales`, as it came; nil when it is left out.
    public var uiLocales: String?
    /// `resource`, the APIs that tokens are to be for (RFC 8707 §2.1); empty when it is left out.
    public var resources: [Resource]

    /// `response_mode`; nil when it is left out, which means the query.
    public var responseMode: ResponseMode?
    /// `acr_values`, the ways of signing in that the application would like, best first; a wish and no condition.
    public var authenticationContexts: [String] = []
    /// `claims`; nil when it is left out.
    public var claims: RequestedClaims.Parameter?
    /// `id_token_hint`, an ID token that names the person, not verified; nil when it is left out.
    public var idTokenHint: IDToken?

    /// A value of `prompt` (OpenID Connect Core §3.1.2.1).
    public enum Prompt: String, Sendable, Hashable, CaseIterable {
        /// No page may be shown.
        case none
        /// The person signs in again.
        case login
        /// The person is asked for consent again.
        case consent
        /// The person chooses an account.
        case selectAccount = "select_account"
    }

    /// Makes a request; what is left out is not sent.
    public init(
        clientID: ClientIdentifier,
        redirectURI: RedirectURI? = nil,
        scope: Scope? = nil,
        state: State? = nil,
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

    /// The challenge that the verifier must match, always of the method S256; nil when the request brought none.
    public var codeChallenge: CodeChallenge? { presentedChallenge?.challenge }

    /// The wire form, in the order in which the standards name the parameters; a challenge goes out with the method S256.
    public var parameters: FormParameters {
        var form = FormParameters(["response_type": "code", "client_id": clientID.rawValue])
        form.append("redirect_uri", ifPresent: redirectURI?.rawValue)
        form.append("scope", ifPresent: scope.flatMap { $0.isEmpty ? nil : $0.description })
        form.append("state", ifPresent: state?.exposed)
        form.append("code_challenge", ifPresent: codeChallenge?.rawValue)
        form.append("code_challenge_method", ifPresent: codeChallenge.map { _ in CodeChallenge.method })
        form.append("nonce", ifPresent: nonce?.exposed)
        let prompts = Prompt.allCases.filter(prompt.contains).map(\.rawValue)
        form.append("prompt", ifPresent: prompts.isEmpty ? nil : prompts.joined(separator: " "))
        form.append("max_age", ifPresent: maxAge.map(String.init))
        form.append("login_hint", ifPresent: loginHint)
        let contexts = authenticationContexts.joined(separator: " ")
        form.append("acr_values", ifPresent: contexts.isEmpty ? nil : contexts)
        form.append("id_token_hint", ifPresent: idTokenHint?.exposed)
        form.append("ui_locales", ifPresent: uiLocales)
        form.append(resources)
        return form
    }

    /// The URL that a browser opens: an endpoint, whose own query is kept, with the request (RFC 6749 §3.1).
    public func url(at endpoint: AbsoluteURI) -> String { endpoint.appending(parameters) }
}

extension AbsoluteURI {
    /// The URI with parameters after those that its query has already (RFC 6749 §3.1).
    package func appending(_ parameters: FormParameters) -> String {
        let separator = query == nil ? "?" : query == "" ? "" : "&"
        return rawValue + separator + parameters.encoded
    }
}
