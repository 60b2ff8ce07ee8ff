import CounterfoilClient
import CounterfoilClientTesting
import CounterfoilProtocol
import Foundation
import Testing

/// Tests of the exchange of a token for another one (RFC 8693).
@Suite(.timeLimit(.minutes(2)))
struct TokenExchangeTests {
    private static func exchange(at server: ScriptedAuthorizationServer) async throws -> TokenExchange {
        TokenExchange(of: try await ServiceSignInTests.signIn(at: server, scope: "photos.read photos.write").run())
    }

    // RFC 8693 §2.1, RFC 8693 §2.2.1
    @Test func `an access token is exchanged for one with less scope`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            var exchange = try await Self.exchange(at: server)
            exchange.scope = try Scope(lenient: "photos.read")
            exchange.audiences = ["printing", "framing"]
            exchange.requestedType = .accessToken
            exchange.actor = TokenExchange.Token(try await ServiceSignInTests.signIn(at: server).run().accessToken)
            let exchanged = try await exchange.run()
            let form = try #require(server.requests(to: .token).last).form
            #expect(form["grant_type"] == "urn:ietf:params:oauth:grant-type:token-exchange")
            #expect(form["subject_token"] == exchange.subject.exposed)
            #expect(form["subject_token_type"] == "urn:ietf:params:oauth:token-type:access_token")
            #expect(form["actor_token"] == exchange.actor?.exposed)
            #expect(form["actor_token_type"] == "urn:ietf:params:oauth:token-type:access_token")
            #expect(form["requested_token_type"] == "urn:ietf:params:oauth:token-type:access_token")
            #expect(form.all("audience") == ["printing", "framing"])
            #expect(exchanged.token.type == .accessToken)
            #expect(exchanged.scope.description == "photos.read")
            let credentials = try #require(exchanged.credentials)
            #expect(credentials.accessToken.exposed == server.accessTokens.last)
            #expect(credentials.details.isEmpty)
            #expect(try await ResourceClient(credentials).get(server.url(of: .api)).statusCode == 200)
        }
    }

    // RFC 8693 §2.2.2
    @Test func `an expired subject token is a refusal`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let exchange = try await Self.exchange(at: server)
            server.expireAccessTokens()
            await #expect(throws: SignInError.refused(OAuthError(.invalidRequest))) { try await exchange.run() }
        }
    }

    // RFC 8693 §2.2.1: `issued_token_type` is required.
    @Test func `a response without the type of its token is rejected`() async throws {
        var script = ServerScript()
        script.tokens.omitted = ["issued_token_type"]
        try await ScriptedAuthorizationServer.run(script) { server in
            let exchange = try await Self.exchange(at: server)
            await #expect(throws: SignInError.unsafe(.tokenResponse(.noIssuedTokenType))) { try await exchange.run() }
        }
    }

    // RFC 8693 §2.2.1: `N_A` means that the token is no access token.
    @Test func `a token that is no access token has no credentials`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            var exchange = try await Self.exchange(at: server)
            server.change {
                $0.tokens.tokenType = "N_A"
                $0.tokens.extras = [WireMember("issued_token_type", .text(TokenExchange.TokenType.saml2.rawValue))]
            }
            exchange.requestedType = .saml2
            let exchanged = try await exchange.run()
            #expect(exchanged.credentials == nil)
            #expect(exchanged.token.type == .saml2)
            #expect(!"\(exchanged)".contains(exchanged.token.exposed))
            exchange.requestedType = .idToken
            await #expect(throws: SignInError.unsafe(.tokenResponse(.otherIssuedTokenType))) {
                try await exchange.run()
            }
        }
    }
}
