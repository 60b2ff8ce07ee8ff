import CounterfoilProtocol
import HTTPTypes

/// Tells a server that a token is not used any more.
///
/// RFC 7009 §2.
public struct TokenRevocation: Sendable {
    private let transport: any HTTPTransport

    /// Makes a revocation over a transport.
    public init(transport: any HTTPTransport = .standard) { self.transport = transport }

    /// What came of it.
    public enum Outcome: Sendable, Hashable {
        /// The server does not accept the token any more.
        case revoked
        /// The server has no revocation endpoint; the token stays good until it expires.
        case unsupported
    }

    /// Revokes the access token of some credentials at the server that issued it.
    public func revoke(_ credentials: Credentials) async throws(SignInError) -> Outcome {
        // A server that no longer says that it does PKCE can still be told that a token is over.
        let configuration = try await MetadataDiscovery(transport: transport)
            .configuration(of: credentials.issuer, skippingPKCEMetadataCheck: true)
        guard let endpoint = configuration.revocationEndpoint else { return .unsupported }
        let form = FormParameters([
            "token": credentials.accessToken.exposed, "token_type_hint": "access_token",
            "client_id": credentials.clientID.rawValue,
        ])
        let response: TransportResponse
        do {
            response = try await transport.send(
                TransportRequest(
                    endpoint, method: .post, headerFields: [.contentType: "application/x-www-form-urlencoded"],
                    body: Array(form.encoded.utf8)))
        } catch { throw SignInError(error) }
        guard response.statusCode == 200 else {
            throw .unavailable(.status(response.statusCode, origin: endpoint.origin))
        }
        return .revoked
    }
}
