import CounterfoilProtocol

/// A code that passed every rule of its attempt, bound to the server and the verifier that it belongs to.
///
/// Only ``AuthorizationAttempt/complete(with:)`` makes one, and an exchange uses it up. It knows its token endpoint, so that
/// the code of one server cannot be sent to another (RFC 9700 §4.4).
public struct ValidatedCode: ~Copyable, Sendable {
    let exchange: TokenRequest.CodeExchange
    let clientID: ClientIdentifier
    let authentication: ClientAuthentication
    let scope: Scope
    let nonce: Nonce?
    /// The longest time since the person signed in that was asked for, in seconds; the ID token must prove it.
    let maxAge: Int?
    let configuration: AuthorizationServerConfiguration
    let prover: Prover?
    let keepsRefreshToken: Bool
    /// What the callback said that a refresh must know.
    let details: [String: String]

    init(
        exchange: TokenRequest.CodeExchange,
        clientID: ClientIdentifier,
        authentication: ClientAuthentication,
        scope: Scope,
        nonce: Nonce?,
        maxAge: Int?,
        configuration: AuthorizationServerConfiguration,
        prover: Prover?,
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
