import CounterfoilProtocol

/// An authorization code whose callback passed every check, with its code verifier and its issuing server.
///
/// Only ``AuthorizationAttempt/complete(with:)`` creates a value, and ``AuthorizationCodeExchange`` consumes it. The
/// value contains the token endpoint of the server, so the code is never sent to another server (RFC 9700 §4.4).
package struct ValidatedCode: ~Copyable, Sendable {
    let exchange: TokenRequest.CodeExchange
    let clientID: ClientIdentifier
    let authentication: ClientAuthentication
    let scope: Scope
    let nonce: Nonce?
    /// `max_age` plus the duration of the attempt, in seconds; the limit for the age of `auth_time` in the ID token.
    let maxAge: Int?
    let configuration: AuthorizationServerConfiguration
    let prover: DPoPProver?
    let keepsRefreshToken: Bool
    let trustedAudiences: Set<String>
    /// The vendor-specific callback parameter that names the server of the user's account; empty if there is none.
    ///
    /// The key is the name of the parameter. A refresh sends its request to that server.
    let details: [String: String]
}
