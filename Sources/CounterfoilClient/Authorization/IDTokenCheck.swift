import CounterfoilProtocol
import CounterfoilTokens
import Foundation
import HTTPTypes

/// The verification of ID tokens with the keys that the server publishes.
///
/// OpenID Connect Core §3.1.3.7 and §10.1.1.
struct IDTokenCheck: Sendable {
    let transport: any HTTPTransport

    /// Verifies the ID token of a refresh response (OpenID Connect Core §12.2).
    func verifyRefreshed(
        _ token: IDToken,
        of configuration: AuthorizationServerConfiguration,
        clientID: ClientIdentifier,
        signIn: IDTokenVerifier.SignIn,
        accessToken: AccessToken,
        at now: Date
    ) async throws(SignInError) -> VerifiedIDToken {
        let verifier = IDTokenVerifier(issuer: configuration.issuer, clientID: clientID)
        return try await withKeys(of: configuration) { keys throws(TokenRefusal) in
            try verifier.verifyRefreshed(token, of: signIn, keys: keys, accessToken: accessToken, at: now)
        }
    }

    /// Verifies the ID token of a grant without an authorization request, such as the device grant (RFC 8628).
    ///
    /// Such an ID token has no nonce.
    func verifyWithoutRequest(
        _ token: IDToken,
        of configuration: AuthorizationServerConfiguration,
        clientID: ClientIdentifier,
        accessToken: AccessToken,
        at now: Date
    ) async throws(SignInError) -> VerifiedIDToken {
        let verifier = IDTokenVerifier(issuer: configuration.issuer, clientID: clientID)
        return try await withKeys(of: configuration) { keys throws(TokenRefusal) in
            try verifier.verifyDirect(token, keys: keys, accessToken: accessToken, at: now)
        }
    }

    func verify(
        _ token: IDToken,
        of configuration: AuthorizationServerConfiguration,
        clientID: ClientIdentifier,
        nonce: Nonce,
        maxAge: Int?,
        accessToken: AccessToken,
        at now: Date
    ) async throws(SignInError) -> VerifiedIDToken {
        let verifier = IDTokenVerifier(issuer: configuration.issuer, clientID: clientID)
        let request = IDTokenVerifier.Request(nonce: nonce, maxAge: maxAge.map { TimeInterval($0) })
        return try await withKeys(of: configuration) { keys throws(TokenRefusal) in
            try verifier.verify(token, keys: keys, request: request, accessToken: accessToken, at: now)
        }
    }

    /// Fetches the keys of the server and passes them to `judge`.
    ///
    /// If they lack the key that signed the ID token, the function fetches them a second time.
    private func withKeys(
        of configuration: AuthorizationServerConfiguration,
        judge: (JSONWebKeySet) throws(TokenRefusal) -> VerifiedIDToken
    ) async throws(SignInError) -> VerifiedIDToken {
        guard let endpoint = configuration.keysEndpoint else { throw .unsafe(.tokenResponse(.noKeys)) }
        let keys = try await keys(at: endpoint)
        do throws(TokenRefusal) {
            return try judge(keys)
        } catch {
            guard case .unknownKey = error else { throw .unsafe(.idToken(error)) }
        }
        // OpenID Connect Core §10.1.1: an unknown `kid` can mean that the server has rotated its keys.
        let rotated = try await self.keys(at: endpoint)
        do throws(TokenRefusal) { return try judge(rotated) } catch { throw .unsafe(.idToken(error)) }
    }

    private func keys(at endpoint: EndpointURL) async throws(SignInError) -> JSONWebKeySet {
        let response: TransportResponse
        do {
            response = try await transport.send(TransportRequest(endpoint, headerFields: [.accept: "application/json"]))
        } catch { throw SignInError(error) }
        switch response.statusCode {
        case 200:
            do { return try JSONWebKeySet(parsing: response.body) } catch { throw .unsafe(.keys) }
        case 300..<400: throw .unsafe(.redirected(origin: endpoint.origin))
        case 429, 500..<600: throw .unavailable(.status(response.statusCode, origin: endpoint.origin))
        default: throw .unsafe(.keys)
        }
    }
}
