import CounterfoilProtocol
import CounterfoilTokens
import Foundation
import HTTPTypes

/// Verifies the ID token of an exchange with the keys that its server publishes.
///
/// OpenID Connect Core §3.1.3.7 and §10.1.1.
struct IDTokenCheck: Sendable {
    let transport: any HTTPTransport

    func verify(
        _ token: IDToken,
        of configuration: AuthorizationServerConfiguration,
        clientID: ClientIdentifier,
        nonce: Nonce,
        accessToken: AccessToken,
        at now: Date
    ) async throws(SignInError) -> VerifiedIDToken {
        guard let endpoint = configuration.keysEndpoint else { throw .unsafe(.tokenResponse(.noKeys)) }
        let verifier = IDTokenVerifier(issuer: configuration.issuer, clientID: clientID)
        let request = IDTokenVerifier.Request(nonce: nonce)
        do {
            return try verifier.verify(
                token, keys: try await keys(at: endpoint), request: request, accessToken: accessToken, at: now)
        } catch TokenRefusal.unknownKey {
            // OpenID Connect Core §10.1.1: the keys may have been rotated just now; they are fetched once more.
            let keys = try await keys(at: endpoint)
            do {
                return try verifier.verify(token, keys: keys, request: request, accessToken: accessToken, at: now)
            } catch {
                throw .unsafe(.idToken(error))
            }
        } catch let refusal as TokenRefusal {
            throw .unsafe(.idToken(refusal))
        } catch let error as SignInError {
            throw error
        } catch {
            throw .unsafe(.keys)
        }
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
