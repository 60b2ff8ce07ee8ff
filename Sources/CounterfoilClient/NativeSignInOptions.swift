public import CounterfoilProtocol

extension NativeSignIn {
    /// Optional parameters of the authorization request, client authentication and token binding.
    public struct Options: Sendable {
        /// `login_hint`: the user that the sign-in page suggests; nil omits the parameter.
        public var loginHint: String?
        /// `prompt`: the pages that the server must show or must not show; an empty set omits the parameter.
        public var prompt: Set<AuthorizationRequest.Prompt> = []
        /// `max_age`: the maximum time since the user authenticated, in seconds; nil omits the parameter.
        ///
        /// The sign-in fails unless `auth_time` in the ID token satisfies the limit (OpenID Connect Core §3.1.3.7).
        public var maxAge: Int?
        /// `acr_values`: acceptable authentication contexts in order of preference; an empty list omits
        /// the parameter.
        public var authenticationContexts: [String] = []
        /// `resource`: the APIs for which the token is requested (RFC 8707 §2.1); an empty list omits the parameter.
        public var resources: [Resource] = []
        /// The client authentication at the token endpoint and the pushed authorization request endpoint.
        public var authentication = ClientAuthentication.none
        /// Whether the tokens are bound to a key that the sign-in generates (RFC 9449).
        public var bindsTokens = false
        /// Whether the client already has a refresh token, so that it need not request another one.
        ///
        /// If false, the request contains ``ServerBehavior/parametersForRefreshToken``.
        public var hasRefreshToken = false
        /// Whether to omit `redirect_uri`, for a client with exactly one registered redirect URI (RFC 6749 §3.1.2.3).
        ///
        /// The token request then omits the parameter too (RFC 6749 §4.1.3).
        public var omitsRedirectURI = false
        /// Whether to keep a refresh token that the server issues; if false, the client discards it.
        public var keepsRefreshToken = true

        /// Creates the default options, which add no parameters to the request.
        public init() {}
    }
}
