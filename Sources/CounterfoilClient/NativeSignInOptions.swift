public import CounterfoilProtocol

extension NativeSignIn {
    /// Optional parameters of the authorization request, client authentication and token binding.
    public struct Options: Sendable {
        /// `login_hint`: the user that the sign-in page suggests; nil omits the parameter.
        public var loginHint: String?
        /// `device_name`: the name of this device, which Counterfoil shows the user in the list of sign-ins; nil omits
        /// the parameter.
        ///
        /// No standard defines it, and a server that does not know it ignores it (RFC 6749 §3.1). The name of the host
        /// can tell who the user is, so the SDK never sends it by itself. Counterfoil shows the first 64 characters.
        public var deviceName: String?
        /// `prompt`: the pages that the server must show or must not show; an empty set omits the parameter.
        ///
        /// If nil, the request contains `prompt=consent` if the scope contains `openid` and `offline_access`, because
        /// OpenID Connect Core §11 requires it for a refresh token. It is omitted at a server that is known not to
        /// need it (``AuthorizationServerConfiguration/requiresConsentForOfflineAccess``).
        public var prompt: Set<AuthorizationRequest.Prompt>?
        /// `max_age`: the maximum time since the user authenticated, in seconds; nil omits the parameter.
        ///
        /// The sign-in fails unless `auth_time` in the ID token satisfies the limit (OpenID Connect Core §3.1.3.7).
        public var maxAge: Int?
        /// `acr_values`: acceptable authentication contexts in order of preference; an empty list omits
        /// the parameter.
        public var authenticationContexts: [String] = []
        /// `resource`: the APIs for which the token is requested (RFC 8707 §2.1); an empty list omits the parameter.
        public var resources: [Resource] = []
        /// The origins of the APIs to which the token may be sent, in addition to those of ``resources``.
        ///
        /// The request does not contain them. If both are empty, the token may be sent only to the origin of the
        /// issuer.
        public var apiOrigins: Set<APIOrigin> = []
        /// Further parameters of the request, such as `audience`, `ui_locales`, `domain_hint` or `kc_idp_hint`.
        ///
        /// The sign-in fails with ``SignInError/unusable(_:)`` if the name of one is a parameter that the client sets
        /// itself, such as `state` or `scope`. In a device sign-in, they are parameters of the device authorization
        /// request.
        public var additionalParameters: [String: String] = [:]
        /// Further parameters of each token request, such as `audience`: of the sign-in, and of each refresh.
        ///
        /// The sign-in fails with ``SignInError/unusable(_:)`` if the name of one is a parameter that the client sets
        /// itself, such as `scope`.
        public var tokenParameters: [String: String] = [:]
        /// The names of further members of token responses to keep in ``Credentials/details``, such as `instance_url`.
        ///
        /// A member is kept if it is a string, a whole number or a truth value; of a string, the first 2048 characters.
        public var details: Set<String> = []
        /// The audiences that an ID token may name in addition to the client (OpenID Connect Core §3.1.3.7).
        ///
        /// Some servers add the identifier of a project or an API. The client rejects an ID token with any other
        /// audience.
        public var trustedAudiences: Set<String> = []
        /// The client authentication at the token endpoint and the pushed authorization request endpoint.
        public var authentication = ClientAuthentication.none
        /// Whether the tokens are bound to a key that the sign-in generates (RFC 9449).
        ///
        /// The sign-in fails before the browser opens if the server does not announce DPoP with ES256.
        public var bindsTokens = false
        /// Whether the client already has a refresh token, so that it need not request another one.
        ///
        /// If false, the request contains ``ServerBehavior/parametersForRefreshToken``.
        public var hasRefreshToken = false
        /// Whether to omit `redirect_uri`, for a client with exactly one registered redirect URI (RFC 6749 §3.1.2.3).
        ///
        /// The token request then omits the parameter too (RFC 6749 §4.1.3).
        public var omitsRedirectURI = false
        /// Whether to request and keep a refresh token.
        ///
        /// If false, the request omits the scope `offline_access`, a dynamic registration omits the grant type
        /// `refresh_token`, and the client discards a refresh token that the server issues nevertheless.
        public var keepsRefreshToken = true

        /// Creates the default options, which add no parameters to the request.
        public init() {}
    }
}

extension NativeSignIn.Options {
    /// The parameters that the client sets itself, with those that could replace them or carry a secret.
    private static let ownParameters: Set<String> = [
        "response_type", "response_mode", "client_id", "redirect_uri", "scope", "state", "nonce", "code_challenge",
        "code_challenge_method", "code_verifier", "prompt", "max_age", "login_hint", "acr_values", "resource",
        "dpop_jkt", "request", "request_uri", "grant_type", "client_secret", "client_assertion",
        "client_assertion_type", "device_code", "device_name",
    ]

    /// Throws if an additional parameter is one that the client sets itself, or has an invalid name.
    func checkAdditionalParameters(at behavior: ServerBehavior) throws(SignInError) {
        for name in additionalParameters.keys.sorted() {
            guard !Self.ownParameters.contains(name), name != behavior.scopeParameter else {
                throw .unusable("the client sets the parameter \(name) itself; use the option for it instead")
            }
            guard !name.isEmpty, name.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
                throw .unusable("the name of an additional parameter is empty or contains invalid characters")
            }
        }
    }

    /// Throws if the tokens are to be bound and the server does not announce DPoP with ES256 (RFC 9449 §5.1).
    ///
    /// Otherwise the client would notice only after the user has signed in.
    func checkBinding(at server: AuthorizationServerConfiguration) throws(SignInError) {
        guard bindsTokens else { return }
        guard let algorithms = server.proofAlgorithms else {
            throw .unusable(
                "\(server.issuer) does not announce DPoP (dpop_signing_alg_values_supported), so its tokens cannot be bound"
                    + " to a key")
        }
        guard algorithms.contains("ES256") else {
            throw .unusable(
                "\(server.issuer) supports DPoP only with "
                    + algorithms.prefix(8).joined(separator: ", ").strippingControlCharacters
                    + "; this client signs proofs with ES256")
        }
    }

    /// Returns the scope to request: without `offline_access` if the client keeps no refresh token.
    func requestedScope(_ scope: Scope) -> Scope {
        keepsRefreshToken ? scope : Scope(scope.tokens.filter { $0 != .offlineAccess })
    }

    /// Returns `prompt` for a request with a scope (OpenID Connect Core §11).
    func prompt(
        for scope: Scope, at server: AuthorizationServerConfiguration
    ) -> Set<AuthorizationRequest.Prompt> {
        if let prompt { return prompt }
        let isOffline = scope.contains(.openID) && scope.contains(.offlineAccess)
        return isOffline && server.requiresConsentForOfflineAccess ? [.consent] : []
    }
}
