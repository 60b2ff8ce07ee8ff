import CounterfoilProtocol

/// A code that passed every check of its attempt, bound to its server and its code verifier.
///
/// Only ``AuthorizationAttempt/complete(with:)`` creates one, and an exchange consumes it. It carries the
/// token endpoint of its server, so that the code is never sent to another server (RFC 9700 §4.4).
package struct ValidatedCode: ~Copyable, Sendable {
    let exchange: TokenRequest.CodeExchange
    let clientID: ClientIdentifier
    let authentication: ClientAuthentication
    let scope: Scope
    let nonce: Nonce?
    /// The maximum time since the user authenticated, including the attempt, in seconds; the ID token
    /// must prove it.
    let maxAge: Int?
    let configuration: AuthorizationServerConfiguration
    let prover: DPoPProver?
    let keepsRefreshToken: Bool
    /// The parameters of the callback that a refresh needs.
    let details: [String: String]

    init(
        exchange: TokenRequest.CodeExchange,
        clientID: ClientIdentifier,
        authentication: ClientAuthentication,
        scope: Scope,
        nonce: Nonce?,
        maxAge: Int?,
        configuration: AuthorizationServerConfiguration,
        prover: DPoPProver?,
        keepsRefreshToken: Bool,
        details: [String: String]
    ) {
        self.exchange = exchange
        self.clientID = clientID
        self.authentication = authentication
        self.scope = scope
        self.nonce = nonce
        self.maxAge = maxAge
        self.configuration = configuration
        self.prover = prover
        self.keepsRefreshToken = keepsRefreshToken
        self.details = details
    }
}
