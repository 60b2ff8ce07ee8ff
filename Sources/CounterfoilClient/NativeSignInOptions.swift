public import CounterfoilProtocol

extension NativeSignIn {
    /// Optional settings of a sign-in.
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
        /// Whether the tokens are bound to a key that the sign-in generates (RFC 9449).
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
}
