/// What the protected API of a scripted server does.
public struct APIScript: Sendable, Hashable, Codable {
    /// The identifier of the API; wire name `resource` (RFC 9728 §1.2).
    public var resource = "{origin}/api"
    /// The authentication schemes under which it takes a token.
    public var schemes = ["Bearer", "DPoP"]
    /// The whole values of `WWW-Authenticate`, each a field of its own, in the place of the honest one.
    public var challenges: [String]?
    /// The scope without which it refuses; wire name `scope` of the challenge (RFC 6750 §3.1).
    public var requiredScope: String?
    /// The authentication contexts of which it wants one (RFC 9470 §3).
    public var requiredContexts: [String] = []
    /// The most seconds since the person signed in (RFC 9470 §3).
    public var maxAge: Int?
    /// Whether something on the way takes `Authorization` off, so that no token ever arrives.
    public var losesAuthorization = false
    /// The text of a success.
    public var answer = "{\"photos\":[]}"
    /// The text of a refusal; empty unless said otherwise.
    public var refusal = ""

    /// An API that takes every token of its server.
    public init() {}
}
