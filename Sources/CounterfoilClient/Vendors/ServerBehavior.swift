/// The deviations of a server from the standard, as data that can be stored, read and tested.
///
/// ``standard`` has no deviations. A deviation changes how a request is written or a response is parsed. It never
/// disables the validation of a response.
public struct ServerBehavior: Sendable, Hashable, Codable {
    /// The separator between two scopes in an authorization or device authorization request.
    public var scopeSeparator = " "
    /// The name of the scope parameter in an authorization request; at Slack it is `user_scope`.
    public var scopeParameter = "scope"
    /// Additional parameters of every authorization request, such as `access_type`.
    public var authorizationParameters: [String: String] = [:]
    /// Additional parameters of an authorization request while the client has no refresh token.
    ///
    /// They are for servers that otherwise issue a refresh token only at the user's first sign-in.
    public var parametersForRefreshToken: [String: String] = [:]
    /// Additional parameters of every token request, such as `audience`.
    public var tokenParameters: [String: String] = [:]
    /// Whether the server issues a refresh token for `offline_access` only with `prompt=consent`, as OpenID Connect
    /// Core §11 allows.
    public var requiresConsentForOfflineAccess = true
    /// The audience of client assertions (`private_key_jwt`); older servers accept only their token endpoint.
    public var assertionAudience = ClientKey.AssertionAudience.issuer
    /// Whether the client also authenticates in refresh requests.
    public var sendsSecretOnRefresh = true
    /// The format of token endpoint responses, by default that of RFC 6749 §5.1.
    public var tokenResponse = TokenResponseShape()
    /// The translation of the server's own error codes to those of the standard.
    public var errors = ErrorShape()
    /// The callback parameter that names the server at which to redeem the code; nil if the vendor sends none.
    public var callbackServer: CallbackServer?
    /// The scheme of the `Authorization` header field in requests to APIs; a token bound by DPoP always uses `DPoP`.
    public var authorizationScheme = "Bearer"
    /// Whether the revocation of one token revokes all tokens of the user and the client (RFC 7009 §2.1).
    ///
    /// If true, the tokens of a former sign-in of the same user are not revoked when a new sign-in replaces them.
    public var revokesAllTokensTogether = false
    /// The number of seconds before its expiration at which the client refreshes an access token.
    public var earlyRefresh = 10

    /// A server that follows the standard.
    public static let standard = ServerBehavior()

    /// Creates a behavior that follows the standard.
    ///
    /// Set properties to describe deviations.
    public init() {}

    /// The deviations of token endpoint responses from RFC 6749 §5.1.
    public struct TokenResponseShape: Sendable, Hashable, Codable {
        /// The names of the nested members that lead to the object with the tokens, outermost first.
        ///
        /// The list is empty if the tokens are members of the response itself.
        public var path: [String] = []
        /// The member whose value `false` marks a response as an error, whatever its HTTP status; nil if there is
        /// none.
        public var successMember: String?
        /// The member with the lifetime in seconds, which takes precedence over `expires_in`; nil if there is none.
        public var secondsMember: String?
        /// Whether `expires_in` is in milliseconds instead of seconds (RFC 6749 §5.1).
        public var expiresInMilliseconds = false
        /// The separator between two scopes in a response, such as a comma; a space separates them in any case.
        public var scopeSeparator = " "
        /// Values of `token_type`, in lower case, that mean Bearer in addition to `bearer`.
        public var extraTokenTypes: Set<String> = []
        /// The members to store with the credentials, such as the URL of the API that holds the user's data.
        public var details: [String] = []

        /// Creates the format of RFC 6749 §5.1.
        public init() {}
    }

    /// The meaning of the error codes of a token endpoint.
    public struct ErrorShape: Sendable, Hashable, Codable {
        /// The standard error code for each of the server's own error codes; other codes are used unchanged.
        public var meanings: [String: String] = [:]
        /// The standard error code for each error code in a response to a refresh; takes precedence over ``meanings``.
        public var meaningsOfRefresh: [String: String] = [:]
        /// The error codes with which the server throttles the client.
        public var transient: Set<String> = []
        /// The number of seconds to wait after a ``transient`` error without a `Retry-After` header field.
        public var pause = 60
        /// The error that directs a polling device to another server of the vendor; nil if there is none.
        public var otherServer: OtherServer?

        /// Creates rules for a server that sends only the error codes of the standard.
        public init() {}
    }

    /// The rule for recognizing an error response that names another server of the vendor.
    ///
    /// The client continues only at an origin that is in both ``origins`` and ``CallbackServer/origins``. Without a
    /// ``CallbackServer`` it stays at the first server.
    public struct OtherServer: Sendable, Hashable, Codable {
        /// The error code of such a response, for example `other_dc`.
        public var word: String
        /// The member of the error response that names the other server, for example `user_location`.
        public var member: String
        /// The origin of the other server for each value of ``member``.
        public var origins: [String: String]

        /// Creates a rule that maps each value of a member of the error response to an origin.
        public init(word: String, member: String, origins: [String: String]) {
            self.word = word
            self.member = member
            self.origins = origins
        }
    }

    /// A callback parameter in which the vendor names the server at which the client must redeem the code.
    ///
    /// An attacker can forge the value, because it comes through the browser. The client therefore uses a server only
    /// if ``origins`` contains it.
    public struct CallbackServer: Sendable, Hashable, Codable {
        /// The name of the callback parameter, for example `accounts-server`.
        public var parameter: String
        /// The origins that the parameter may name, compared byte for byte.
        public var origins: Set<String>

        /// Creates a rule that allows only these origins in the parameter.
        public init(parameter: String, origins: Set<String>) {
            self.parameter = parameter
            self.origins = origins
        }
    }
}
