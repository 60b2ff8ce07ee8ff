import CounterfoilClientTesting
import CounterfoilProtocol
import CounterfoilTokens
import Foundation
import Testing

/// Tests of misbehaviors in ID tokens, keys and UserInfo responses.
@Suite(.timeLimit(.minutes(2)))
struct IdentityMisbehaviorTests {
    /// Returns the reason why the ID token of a sign-in is rejected, with the keys that are published now.
    private func refusal(_ tokens: PlainClient.Reply, at server: ScriptedAuthorizationServer) async throws
        -> TokenRefusal?
    {
        let keys = try await PlainClient(server: server).get(server.url(of: .keys))
        let verifier = IDTokenVerifier(
            issuer: server.issuer, clientID: try #require(ClientIdentifier("lightbox")))
        let accessToken = AccessToken(tokens.text("access_token") ?? "")
        do {
            _ = try verifier.verify(
                try #require(IDToken(tokens.text("id_token") ?? "")),
                keys: try JSONWebKeySet(parsing: Array(keys.text.utf8)),
                request: IDTokenVerifier.Request(nonce: try #require(Nonce("the-nonce"))),
                accessToken: accessToken, at: Date())
            return nil
        } catch let refusal as TokenRefusal {
            return refusal
        }
    }

    // OpenID Connect Core §3.1.3.7
    @Test(
        arguments: [
            (.idTokenWrongIssuer, .wrongIssuer), (.idTokenWrongAudience, .wrongAudience),
            (.idTokenTwoAudiences, .wrongAudience), (.idTokenWrongNonce, .wrongNonce),
            (.idTokenNoNonce, .missingClaim("nonce")), (.idTokenExpired, .expired),
            (.idTokenNoSubject, .missingClaim("sub")), (.idTokenNoIssueTime, .missingClaim("iat")),
            (.idTokenNoAudience, .missingClaim("aud")), (.idTokenUnsigned, .algorithmNotAllowed),
            (.idTokenHS256, .algorithmNotAllowed), (.idTokenBrokenSignature, .badSignature), (.rotatesKeys, nil),
        ] as [(Misbehavior, TokenRefusal?)])
    func `the ID token has exactly this fault`(misbehavior: Misbehavior, expected: TokenRefusal?) async throws {
        try await ScriptedAuthorizationServer.run(ServerScript(misbehavior)) { server in
            let tokens = try await PlainClient(server: server).signIn()
            #expect(try await refusal(tokens, at: server) == expected)
        }
    }

    @Test func `keys can be unknown, stale, changed or too many`() async throws {
        try await ScriptedAuthorizationServer.run(ServerScript(.idTokenUnknownKey)) { server in
            let tokens = try await PlainClient(server: server).signIn()
            guard case .unknownKey = try await refusal(tokens, at: server) else {
                Issue.record("the key is known")
                return
            }
        }
        try await ScriptedAuthorizationServer.run(ServerScript(.staleKeys)) { server in
            let tokens = try await PlainClient(server: server).signIn()
            #expect(try await refusal(tokens, at: server) != nil)
            #expect(try await refusal(tokens, at: server) == nil)
        }
        try await ScriptedAuthorizationServer.run(ServerScript(.rotatesKeys)) { server in
            let client = PlainClient(server: server)
            let before = try await client.get(server.url(of: .keys)).text
            _ = try await client.signIn()
            #expect(try await client.get(server.url(of: .keys)).text != before)
        }
        try await ScriptedAuthorizationServer.run(ServerScript(.tenThousandKeys)) { server in
            let text = try await PlainClient(server: server).get(server.url(of: .keys)).text
            #expect(text.components(separatedBy: "\"kid\"").count == 10_002)
        }
    }

    // OpenID Connect Core §5.3.2 and §12.2
    @Test func `a refresh or UserInfo can be about another user`() async throws {
        try await ScriptedAuthorizationServer.run(ServerScript(.refreshedIDTokenOtherSubject)) { server in
            let client = PlainClient(server: server)
            let refreshed = try await client.refresh(try await client.signIn().text("refresh_token"))
            let claims = try #require(Base64URL.decode(refreshed.text("id_token")?.split(separator: ".")[1] ?? ""))
            #expect(try JSONDecoder().decode(WireValue.self, from: Data(claims))["sub"] == "mallory")
        }
        for (misbehavior, subject) in [
            (.userInfoOtherSubject, "mallory"), (.userInfoNoSubject, nil),
        ] as [(Misbehavior, WireValue?)] {
            try await ScriptedAuthorizationServer.run(ServerScript(misbehavior)) { server in
                let client = PlainClient(server: server)
                let token = try await client.signIn().text("access_token") ?? ""
                let userInfo = try await client.get(
                    server.url(of: .userInfo), fields: ["Authorization": "Bearer \(token)"])
                #expect(userInfo.status == 200)
                #expect(userInfo.json?["sub"] == subject)
            }
        }
        try await ScriptedAuthorizationServer.run(ServerScript(.signedUserInfo)) { server in
            let client = PlainClient(server: server)
            let token = try await client.signIn().text("access_token") ?? ""
            let userInfo = try await client.get(server.url(of: .userInfo), fields: ["Authorization": "Bearer \(token)"])
            #expect(userInfo.field("Content-Type") == "application/jwt")
            #expect(userInfo.text.split(separator: ".").count == 3)
        }
        try await ScriptedAuthorizationServer.run(ServerScript(.omitsIDToken)) { server in
            let tokens = try await PlainClient(server: server).signIn()
            #expect(tokens.text("id_token") == nil)
        }
    }
}
