import CounterfoilProtocol

/// Tells a server that the tokens of a sign-in are not used any more.
///
/// RFC 7009 §2.
public struct TokenRevocation: Sendable {
    private let transport: any HTTPTransport

    /// Makes a revocation over a transport.
    public init(transport: any HTTPTransport = .standard) { self.transport = transport }

    /// What came of it.
    public enum Outcome: Sendable, Hashable {
        /// The server does not accept the tokens any more.
        case revoked
        /// The server has no revocation endpoint; the tokens stay good until they expire.
        case unsupported
    }

    /// Revokes the tokens of some credentials at the server that issued them, the refresh token first.
    ///
    /// A server that ends the whole grant with the refresh token is told of the access token all the same: others do not.
    public func revoke(_ credentials: Credentials) async throws(SignInError) -> Outcome {
        let server = try await credentials.serverConfiguration(transport: transport)
        guard let endpoint = server.revocationEndpoint else { return .unsupported }
        if let token = credentials.refreshToken {
            try await revoke(token.exposed, hint: "refresh_token", of: credentials, at: endpoint)
        }
        if !credentials.isExpired() {
            do throws(SignInError) {
                try await revoke(credentials.accessToken.exposed, hint: "access_token", of: credentials, at: endpoint)
            } catch {
                // RFC 7009 §2.2.1: some servers revoke refresh tokens only; the one above is what keeps a grant alive.
                guard credentials.refreshToken != nil, case .refused = error else { throw error }
            }
        }
        return .revoked
    }

    private func revoke(
        _ token: String, hint: String, of credentials: Credentials, at endpoint: EndpointURL
    ) async throws(SignInError) {
        let form = FormParameters(["token": token, "token_type_hint": hint])
        _ = try await ServerMessage(
            form: form, of: credentials.clientID, by: credentials.authentication, at: credentials.issuer
        ).send(to: endpoint, through: transport)
    }
}
