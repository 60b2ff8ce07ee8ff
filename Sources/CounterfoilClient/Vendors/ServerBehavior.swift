/// The deviations of a server from the standard, as data that can be stored, read and tested.
///
/// ``standard`` has no deviations. A deviation relaxes how a response is parsed, never what it must prove.
public struct ServerBehavior: Sendable, Hashable, Codable {
    /// The separator between two scopes in a request.
    public var scopeSeparator = " "
    /// The wire name of the scope parameter.
    public var scopeParameter = "scope"
    /// Additional parameters of every authorization request, such as `access_type`.
    public var authorizationParameters: [String: String] = [:]
    /// Additional parameters while no refresh token is stored, for servers that issue one only the first time.
    public var parametersForRefreshToken: [String: String] = [:]
    /// Whether the client also authenticates when it refreshes.
    public var sendsSecretOnRefresh = true
    /// The deviations of token endpoint responses.
    public var tokenResponse = TokenResponseShape()
    /// The meaning of the server's error codes.
    public var errors = ErrorShape()
    /// The callback parameter that names the server for the code exchange, and the servers that it may name.
    public var callbackServer: CallbackServer?
    /// The scheme of the `Authorization` field at the APIs.
    public var authorizationScheme = "Bearer"
    /// The time before its expiration at which an access token is refreshed, in seconds.
    public var earlyRefresh = 10

    /// A server that follows the standard.
    public static let standard = ServerBehavior()

    /// Creates a behavior that follows the standard.
    ///
    /// Set properties to describe deviations.
    public init() {}

    /// The location of the members of RFC 6749 §5.1 in a token endpoint response.
    public struct TokenResponseShape: Sendable, Hashable, Codable {
        /// The path to the object that contains the tokens, outermost member first; empty for the
        /// response itself.
        public var path: [String] = []
        /// A member that is false in an error response, whatever the status; nil if there is none.
        public var successMember: String?
        /// A member with the lifetime in seconds, which takes precedence over `expires_in`; nil if there is none.
        public var secondsMember: String?
        /// Whether `expires_in` is in milliseconds.
        public var expiresInMilliseconds = false
        /// The separator between two scopes in a response, in addition to the space.
        public var scopeSeparator = " "
        /// Values of `token_type`, in lower case, that mean Bearer in addition to `bearer`.
        public var extraTokenTypes: Set<String> = []
        /// The members to store for the client, such as the URL of the user's API.
        public var details: [String] = []

        /// Creates the shape of the standard.
        public init() {}
    }

    /// The meaning of the error codes of a token endpoint.
    public struct ErrorShape: Sendable, Hashable, Codable {
        /// The standard error code for each error code of this server.
        public var meanings: [String: String] = [:]
        /// The standard error code for each error code of a rejected refresh; takes precedence over ``meanings``.
        public var meaningsOfRefresh: [String: String] = [:]
        /// The error codes by which the server throttles the client.
        public var transient: Set<String> = []
        /// The time to wait after one of those, in seconds, unless the response names one.
        public var pause = 60
        /// The error that sends a polling device to another server of the vendor; nil if there is none.
        public var otherServer: OtherServer?

        /// Creates the shape of the standard.
        public init() {}
    }

    /// An error that names another server of the vendor.
    ///
    /// Only an origin that ``CallbackServer/origins`` also contains is ever used.
    public struct OtherServer: Sendable, Hashable, Codable {
        /// The error code.
        public var word: String
        /// The member that names the other server.
        public var member: String
        /// The origin for each value of that member.
        public var origins: [String: String]

        /// Creates a rule for an error code.
        public init(word: String, member: String, origins: [String: String]) {
            self.word = word
            self.member = member
            self.origins = origins
        }
    }

    /// A callback parameter that names a server.
    ///
    /// The value comes through the browser and can be forged, so that only a listed server is ever used.
    public struct CallbackServer: Sendable, Hashable, Codable {
        /// The name of the callback parameter.
        public var parameter: String
        /// The origins that it may name, byte for byte.
        public var origins: Set<String>

        /// Creates a rule for a callback parameter.
        public init(parameter: String, origins: Set<String>) {
            self.parameter = parameter
            self.origins = origins
        }
    }
}
