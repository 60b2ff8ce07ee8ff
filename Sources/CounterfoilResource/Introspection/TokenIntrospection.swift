public import CounterfoilProtocol

/// As whom an API asks its authorization server whether an access token still counts, and how long it believes the answer.
///
/// RFC 7662. A signature proves that a token was given; only the server knows whether the person took it back since. An API
/// that asks refuses a revoked token within ``lifetime``, and one that does not ask when the token expires.
public struct TokenIntrospection: Sendable, Hashable {
    /// The name of the API at the server; wire name `client_id`.
    public var clientID: ClientIdentifier
    /// What proves it, by HTTP Basic; wire name `client_secret`.
    public var clientSecret: ClientSecret
    /// How long an answer is believed: for as long, at most, a token that was revoked stays good here.
    ///
    /// RFC 7662 §4. Zero asks with each request.
    public var lifetime: Duration

    /// Asks by a name and a secret, and believes the answer for half a minute unless told otherwise.
    public init(clientID: ClientIdentifier, clientSecret: ClientSecret, lifetime: Duration = .seconds(30)) {
        self.clientID = clientID
        self.clientSecret = clientSecret
        self.lifetime = lifetime
    }
}
