import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

/// An issued token, read as an API and a client read it: with the keys that the server publishes.
struct IssuedTokens {
    let test: TestServer
    let keys: JSONWebKeySet

    init(_ test: TestServer) async throws {
        self.test = test
        keys = try JSONWebKeySet(parsing: try await test.send(.get, to: .keySet).json)
    }

    func verified(_ token: AccessToken, audience: String? = nil) throws -> VerifiedAccessToken {
        try AccessTokenVerifier(issuer: test.issuer, audience: audience ?? test.issuer.rawValue)
            .verify(token.exposed, keys: keys, at: test.clock.now)
    }

    func verified(
        _ response: TokenResponse,
        for client: RegisteredClient,
        nonce: Nonce,
        maxAge: TimeInterval? = nil,
        algorithms: Set<SigningAlgorithm> = [.es256]
    ) throws -> VerifiedIDToken {
        try IDTokenVerifier(issuer: test.issuer, clientID: client.id, algorithms: algorithms).verify(
            try #require(response.idToken), keys: keys, request: .init(nonce: nonce, maxAge: maxAge),
            accessToken: response.accessToken, at: test.clock.now
        )
    }

    /// Returns the grant of an access token.
    func grant(of token: AccessToken) async throws -> Grant {
        let text = try #require(try verified(token).grantID)
        let id = try #require(GrantIdentifier(text))
        return try #require(try await test.store.grant(id))
    }

    /// The header and the claims of a token.
    static func parts(of token: String) throws -> (header: [String: Any], claims: [String: Any]) {
        let parts = try token.split(separator: ".").prefix(2).map { part in
            let bytes = try #require(Base64URL.decode(part))
            return try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
        }
        return (parts[0], parts[1])
    }
}
