/// How a server's requests and answers differ from the standard: data and no code, so that it can be kept, read and tested.
///
/// ``standard`` differs in nothing. Whatever is set here loosens how an answer is read, never what it must prove.
public struct ServerBehavior: Sendable, Hashable, Codable {
    /// What stands between two scopes in a request.
    public var scopeSeparator = " "
    /// The wire name under which permissions are asked for.
    public var scopeParameter = "scope"
    /// Parameters of every authorization request besides those of the standard, such as `access_type`.
    public var authorizationParameters: [String: String] = [:]
    /// Parameters that are sent besides while no refresh token is kept, for servers that give one the first time only.
    public var parametersForRefreshToken: [String: String] = [:]
    /// Whether a secret that the client has is sent with a refresh too.
    public var sendsSecretOnRefresh = true
    /// How the token endpoint answers.
    public var tokenResponse = TokenResponseShape()
    /// What the words of its refusals mean.
    public var errors = ErrorShape()
    /// The parameter of the callback that names the server which exchanges the code, and the servers that it may name.
    public var callbackServer: CallbackServer?
    /// The scheme of the `Authorization` field at the APIs.
    public var authorizationScheme = "Bearer"
    /// How long before its end an access token is refreshed, in seconds.
    public var earlyRefresh = 10

    /// A server that does what the standard says.
    public static let standard = ServerBehavior()

    /// The behaviour of the standard, to be changed.
    public init() {}

    /// Where the members of RFC 6749 §5.1 stand in the answer of a token endpoint.
    public struct TokenResponseShape: Sendable, Hashable, Codable {
        /// The object in which the tokens stand, by the names of its members from the outside; empty for the answer itself.
        public var path: [String] = []
        /// A member that is false in a refusal, whatever the status; nil when there is none.
        public var successMember: String?
        /// A member that holds the lifetime in seconds and comes before `expires_in`; nil when there is none.
        public var secondsMember: String?
        /// Whether `expires_in` is in milliseconds.
        public var expiresInMilliseconds = false
        /// What stands between two scopes in an answer, besides the space.
        public var scopeSeparator = " "
        /// Values of `token_type`, in lower case, that mean Bearer here besides `bearer`.
        public var extraTokenTypes: Set<String> = []
        /// Members to keep for the application, such as the address of the API that belongs to the person.
        public var details: [String] = []

        /// The shape of the standard.
        public init() {}
    }

    /// What the refusals of a token endpoint mean.
    public struct ErrorShape: Sendable, Hashable, Codable {
        /// The standard's word for a word of this server.
        public var meanings: [String: String] = [:]
        /// The standard's word for a word of this server when it refuses a refresh, before ``meanings``.
        public var meaningsOfRefresh: [String: String] = [:]
        /// Words that say that the server has had enough for now.
        public var transient: Set<String> = []
        /// How long to wait after one of those, in seconds.
        public var pause = 60
        /// The word that sends a device to another server of the vendor while it asks; nil when there is none.
        public var otherServer: OtherServer?

        /// The words of the standard.
        public init() {}
    }

    /// Another server of the vendor, which a refusal names by a word of its own.
    ///
    /// Only one that ``CallbackServer/origins`` has too is ever gone to.
    public struct OtherServer: Sendable, Hashable, Codable {
        /// The word of the refusal.
        public var word: String
        /// The member that says where.
        public var member: String
        /// The origins by what that member may say.
        public var origins: [String: String]

        /// Names the word, the member and the origins.
        public init(word: String, member: String, origins: [String: String]) {
            self.word = word
            self.member = member
            self.origins = origins
        }
    }

    /// A server that its callback names.
    ///
    /// The value comes through the browser, where anybody can put one: only a server of the list is ever taken.
    public struct CallbackServer: Sendable, Hashable, Codable {
        /// The parameter of the callback.
        public var parameter: String
        /// The servers that it may name, as origins, byte for byte.
        public var origins: Set<String>

        /// Names the parameter and its values.
        public init(parameter: String, origins: Set<String>) {
            self.parameter = parameter
            self.origins = origins
        }
    }
}
