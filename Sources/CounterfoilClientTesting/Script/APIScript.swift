/// The behaviour of the protected API of a scripted server.
public struct APIScript: Sendable, Hashable, Codable {
    /// The resource identifier of the API, published as `resource` in its metadata (RFC 9728 §1.2).
    public var resource = "{origin}/api"
    /// The authentication schemes that the API accepts in `Authorization`.
    public var schemes = ["Bearer", "DPoP"]
    /// The values of the `WWW-Authenticate` fields in every error response of the API; nil
    /// means the correct challenge.
    public var challenges: [String]?
    /// The scope that an access token must have; nil requires no scope.
    ///
    /// If a token lacks this scope, the challenge states the required scope as `scope` (RFC 6750 §3.1).
    public var requiredScope: String?
    /// The values of `acr`, one of which the user's sign-in must have (RFC 9470 §3); an empty array accepts any
    /// sign-in.
    public var requiredContexts: [String] = []
    /// The maximum number of seconds since the user signed in (RFC 9470 §3); nil means no maximum.
    public var maxAge: Int?
    /// Whether the API and the UserInfo endpoint ignore `Authorization`, as if a proxy had removed it.
    public var losesAuthorization = false
    /// The body of a successful response.
    public var answer = "{\"photos\":[]}"
    /// The media type of ``answer``, such as `text/event-stream`.
    public var answerType = "application/json"
    /// The body of an error response; ignored if ``ErrorScript/isNestedAtAPI`` is true.
    public var refusal = ""

    /// Creates a script for an API that accepts every valid access token of the scripted server.
    public init() {}
}
