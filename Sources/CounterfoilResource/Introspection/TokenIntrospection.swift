public import CounterfoilProtocol

/// The client credentials with which an API introspects tokens, and the cache lifetime of the responses.
///
/// RFC 7662. A signature proves that a token was issued. Only the server knows whether the token was
/// revoked. An API with introspection rejects a revoked token within ``lifetime``. An API without it
/// accepts the token until it expires.
public struct TokenIntrospection: Sendable, Hashable {
    /// The identifier of the API at the server; wire name `client_id`.
    public var clientID: ClientIdentifier
    /// The secret of the API, sent with HTTP Basic authentication; wire name `client_secret`.
    public var clientSecret: ClientSecret
    /// The time for which a response is cached, and so the maximum time for which a revoked token is still accepted.
    ///
    /// RFC 7662 §4. With zero, every request is introspected.
    public var lifetime: Duration

    /// Creates the configuration.
    ///
    /// The default lifetime is 30 seconds.
    public init(clientID: ClientIdentifier, clientSecret: ClientSecret, lifetime: Duration = .seconds(30)) {
        self.clientID = clientID
        self.clientSecret = clientSecret
        self.lifetime = lifetime
    }
}
