package import CounterfoilPlatform
import CounterfoilProtocol
import CounterfoilTokens

/// The exchange of a validated code for tokens at the token endpoint.
///
/// RFC 6749 §4.1.3 and §4.1.4, RFC 7636 §4.5. The request goes directly to the server and never through
/// the browser. If `openid` was requested, the ID token is required and verified.
package struct AuthorizationCodeExchange: Sendable {
    private let transport: any HTTPTransport
    private let now: @Sendable () -> Date

    package init(transport: any HTTPTransport) { self.init(transport: transport, now: { Date() }) }

    package init(transport: any HTTPTransport, now: @escaping @Sendable () -> Date) {
        self.transport = transport
        self.now = now
    }

    /// Exchanges a code for tokens; the code cannot be used again, even if the exchange fails.
    ///
    /// `report` receives the names of the members of the response that count as absent because their values are not
    /// valid, if there are any.
    package func exchange(
        _ code: consuming ValidatedCode, ignoring report: ([String]) -> Void = { _ in }
    ) async throws(SignInError) -> Credentials {
        let server = code.configuration
        let issued = try await TokenEndpointClient(
            server: server, clientID: code.clientID, authentication: code.authentication, prover: code.prover,
            transport: transport
        ).tokens(for: .authorizationCode(code.exchange))
        if !issued.ignored.isEmpty { report(issued.ignored) }
        // The lifetime begins with the response, and not after the key set has been fetched.
        let time = issued.time(at: now())
        var user: Credentials.User?
        if let nonce = code.nonce {
            let idToken = try issued.requiredIDToken()
            let check = IDTokenCheck(transport: transport, trustedAudiences: code.trustedAudiences)
            let verified = try await check.verify(
                idToken, of: server, clientID: code.clientID, nonce: nonce, maxAge: code.maxAge,
                accessToken: issued.tokens.accessToken, at: time)
            user = Credentials.User(verified)
        }
        var credentials = issued.credentials(
            of: code.clientID, at: server, scope: code.scope, resources: code.exchange.resources, user: user,
            key: code.prover?.key, time: time)
        if !code.keepsRefreshToken { credentials.refreshToken = nil }
        credentials.details.merge(code.details) { $1 }
        return credentials
    }
}
