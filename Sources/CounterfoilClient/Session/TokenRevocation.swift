import CounterfoilProtocol

/// A revocation of the tokens of a sign-in (RFC 7009 §2).
public struct TokenRevocation: Sendable {
    private let transport: any HTTPTransport

    /// Creates a revocation that sends its requests through `transport`.
    public init(transport: any HTTPTransport = .standard) { self.transport = transport }

    /// The outcome of a revocation that did not fail.
    public enum Outcome: Sendable, Hashable {
        /// The server has revoked the tokens.
        ///
        /// Some servers refuse to revoke access tokens. In this case the refresh token is revoked, and the access
        /// token stays valid until it expires.
        case revoked
        /// The server has no revocation endpoint; the tokens stay valid until they expire.
        case unsupported
    }

    /// Revokes the tokens of some credentials at the server that issued them, the refresh token first.
    ///
    /// An access token that has not expired is revoked too, because not every server revokes it with the
    /// refresh token. So are the stored access tokens for parts of the sign-in (``AccessTarget``).
    public func revoke(_ credentials: Credentials) async throws(SignInError) -> Outcome {
        let server = try await credentials.serverConfiguration(transport: transport)
        guard let endpoint = server.revocationEndpoint else { return .unsupported }
        if let token = credentials.refreshToken {
            try await revoke(token.exposed, hint: "refresh_token", of: credentials, at: endpoint, server)
        }
        let parts = credentials.narrowed.compactMap { credentials.cached(for: $0.target) }
        for issued in [credentials] + parts where !issued.isExpired() || issued.clockWasSetBack() {
            do throws(SignInError) {
                try await revoke(
                    issued.accessToken.exposed, hint: "access_token", of: credentials, at: endpoint, server)
            } catch {
                // RFC 7009 §2.2.1: some servers refuse to revoke access tokens. Ignore this if the refresh token
                // was revoked, because the client then cannot obtain another access token.
                guard credentials.refreshToken != nil, case .refused = error else { throw error }
            }
        }
        return .revoked
    }

    private func revoke(
        _ token: String, hint: String, of credentials: Credentials, at endpoint: EndpointURL,
        _ server: AuthorizationServerConfiguration
    ) async throws(SignInError) {
        let form = FormParameters(["token": token, "token_type_hint": hint])
        _ = try await EndpointRequest(
            form: form, of: credentials.clientID, by: credentials.authentication, at: server
        ).send(to: endpoint, through: transport)
    }
}
