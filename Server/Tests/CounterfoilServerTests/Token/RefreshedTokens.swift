import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

extension Attempt {
    /// Sends a token request with the refresh token of a response and further parameters.
    func refresh(_ tokens: TokenResponse, _ more: KeyValuePairs<String, String> = [:]) async throws -> Reply {
        var form = FormParameters([
            "grant_type": "refresh_token", "client_id": client.id.rawValue,
            "refresh_token": try #require(tokens.refreshToken).exposed,
        ])
        for (name, value) in more { form.append(name, value) }
        return await test.redeem(form)
    }
}

extension TestServer {
    /// Sends a UserInfo request with the access token of a response.
    func userInfo(_ tokens: TokenResponse) async -> Reply {
        await send(.get, to: .userInfo, fields: [.authorization: "Bearer \(tokens.accessToken.exposed)"])
    }
}

extension TokenResponse {
    /// Checks the claims `aud` and `scope` of the access token.
    func expect(
        audience: [String], scope: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let claims = try IssuedTokens.parts(of: accessToken.exposed).claims
        let named = claims["aud"] as? [String] ?? (claims["aud"] as? String).map { [$0] }
        #expect(named == audience, sourceLocation: sourceLocation)
        #expect(claims["scope"] as? String == scope, sourceLocation: sourceLocation)
    }
}
