public import CounterfoilProtocol

/// The client credentials with which an API introspects tokens, and the cache lifetime of the responses.
///
/// RFC 7662. A signature proves only that a token was issued. Only the authorization server knows whether it
/// was revoked. An API with introspection rejects a revoked token within ``lifetime``. An API
/// without introspection accepts it until it expires.
public struct TokenIntrospection: Sendable, Hashable {
    /// `client_id`, the identifier of the API at the authorization server.
    public var clientID: ClientIdentifier
    /// `client_secret`, the secret of the API, sent with HTTP Basic authentication.
    public var clientSecret: ClientSecret
    /// The time for which a response is cached, which is also the maximum time for which a revoked token is
    /// still accepted.
    ///
    /// RFC 7662 §4. With a lifetime of zero, responses are not cached, and the token of every request is
    /// introspected.
    public var lifetime: Duration

    /// Creates a configuration with the credentials of the API; by default, responses are cached for 30 seconds.
    public init(clientID: ClientIdentifier, clientSecret: ClientSecret, lifetime: Duration = .seconds(30)) {
        self.clientID = clientID
        self.clientSecret = clientSecret
        self.lifetime = lifetime
    }
}
