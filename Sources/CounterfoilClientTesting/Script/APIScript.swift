/// The behaviour of the protected API of a scripted server.
public struct APIScript: Sendable, Hashable, Codable {
    /// The resource identifier of the API; wire name `resource` (RFC 9728 §1.2).
    public var resource = "{origin}/api"
    /// The authentication schemes that the API accepts.
    public var schemes = ["Bearer", "DPoP"]
    /// The `WWW-Authenticate` values that replace the correct one, one field each.
    public var challenges: [String]?
    /// The scope that the API requires; wire name `scope` of the challenge (RFC 6750 §3.1).
    public var requiredScope: String?
    /// The authentication contexts of which the API requires one (RFC 9470 §3).
    public var requiredContexts: [String] = []
    /// The maximum number of seconds since the user signed in (RFC 9470 §3).
    public var maxAge: Int?
    /// Whether a proxy removes `Authorization`, so that no token ever arrives.
    public var losesAuthorization = false
    /// The JSON body of a successful response.
    public var answer = "{\"photos\":[]}"
    /// The body of an error response.
    public var refusal = ""

    /// Creates an API that accepts every valid access token of its server.
    public init() {}
}
