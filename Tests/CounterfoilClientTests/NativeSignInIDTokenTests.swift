import CounterfoilClient
import CounterfoilClientTesting
import CounterfoilProtocol
import CounterfoilTokens
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// The ID token of a sign-in, and the keys that verify it.
extension NativeSignInTests {
    // OpenID Connect Core §3.1.3.7
    @Test(
        arguments: [
            (.idTokenWrongIssuer, .wrongIssuer), (.idTokenWrongAudience, .wrongAudience),
            (.idTokenTwoAudiences, .wrongAudience), (.idTokenWrongNonce, .wrongNonce),
            (.idTokenNoNonce, .missingClaim("nonce")), (.idTokenNoSubject, .missingClaim("sub")),
            (.idTokenNoIssueTime, .missingClaim("iat")), (.idTokenNoAudience, .missingClaim("aud")),
            (.idTokenExpired, .expired), (.idTokenBrokenSignature, .badSignature),
        ] as [(Misbehavior, TokenRefusal)])
    func `an ID token with any fault is rejected`(misbehavior: Misbehavior, refusal: TokenRefusal) async throws {
        #expect(try await failure(ServerScript(misbehavior)) == .unsafe(.idToken(refusal)))
    }

    // RFC 8725 §3.1
    @Test(arguments: [(IDTokenScript.Signature.none, "none"), (.hs256, "HS256"), (.ps256, "PS256")])
    func `the refusal of an algorithm names it and those that are accepted`(
        signature: IDTokenScript.Signature, name: String
    ) async throws {
        var script = ServerScript()
        script.idToken.signature = signature
        let error = try await failure(script)
        #expect(error == .unsafe(.idTokenAlgorithm(name)))
        #expect(error.map { "\($0)" }?.contains("accepts only ES256, RS256, Ed25519 and EdDSA") == true)
    }

    // OpenID Connect Core §3.1.3.6 and §3.1.3.7
    @Test(arguments: [
        ("azp", TokenRefusal.wrongAuthorizedParty), ("at_hash", .wrongAccessTokenHash),
    ])
    func `an ID token for another client or another access token is rejected`(
        claim: String, refusal: TokenRefusal
    ) async throws {
        var script = ServerScript()
        script.idToken.replaced = [WireMember(claim, .text(Base64URL.encode([UInt8](repeating: 0, count: 16))))]
        #expect(try await failure(script) == .unsafe(.idToken(refusal)))
    }

    @Test func `a missing ID token is unsafe with openid and accepted without it`() async throws {
        let script = ServerScript(.omitsIDToken)
        #expect(try await failure(script) == .unsafe(.tokenResponse(.noIDToken)))
        #expect(try await failure(script, scope: "photos.read") == nil)
    }

    // OpenID Connect Core §10.1.1
    @Test func `recently rotated keys are fetched again exactly once`() async throws {
        for (stale, succeeds) in [(1, true), (9, false)] {
            var script = ServerScript()
            script.keys.staleAnswers = stale
            try await ScriptedAuthorizationServer.run(script) { server in
                if succeeds {
                    _ = try await Self.signIn(at: server).run()
                } else {
                    await #expect(throws: SignInError.self) { try await Self.signIn(at: server).run() }
                }
                #expect(server.requests(to: .keys).count == 2)
            }
        }
    }
}
