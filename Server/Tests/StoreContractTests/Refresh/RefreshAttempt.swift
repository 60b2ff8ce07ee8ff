import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Testing

/// A sign-in of alice for a client that requests refresh tokens.
struct RefreshAttempt {
    let test: TestServer
    let client: RegisteredClient
    private let verifier = CodeVerifier()

    init(_ test: TestServer, _ client: RegisteredClient) {
        self.test = test
        self.client = client
    }

    /// Completes the flow: authorization, consent, code and tokens.
    func tokens(with browser: inout ScriptedUserAgent) async throws -> TokenResponse {
        let request = FormParameters([
            "response_type": "code", "client_id": client.id.rawValue, "scope": client.scope.description,
            "redirect_uri": "http://127.0.0.1:51004/callback", "state": "af0ifjsldkj",
            "code_challenge": CodeChallenge(of: verifier).rawValue, "code_challenge_method": "S256",
        ])
        let url = test.issuer.endpoint("/oauth2/authorize") + "?" + request.encoded
        let reply = try await browser.authorize(url, username: "alice", password: TestServer.password)
        let exchange = FormParameters([
            "grant_type": "authorization_code", "client_id": client.id.rawValue, "code": try reply.code.exposed,
            "redirect_uri": "http://127.0.0.1:51004/callback", "code_verifier": verifier.exposed,
        ])
        return try await test.redeem(exchange).tokenResponse
    }

    static func form(_ token: RefreshToken, of client: RegisteredClient) -> FormParameters {
        FormParameters([
            "grant_type": "refresh_token", "client_id": client.id.rawValue, "refresh_token": token.exposed,
        ])
    }
}
