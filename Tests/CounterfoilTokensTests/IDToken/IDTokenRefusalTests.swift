import CounterfoilProtocol
import CounterfoilTokens
import Crypto
import Foundation
import Testing

struct IDTokenRefusalTests {
    let authority: Authority
    private let claims = """
        {"iss":"https://id.example.com","sub":"ada","aud":"lightbox","exp":1800000600,"iat":1800000000,\
        "nonce":"n-0S6_WzA2Mj"}
        """

    init() throws { authority = try Authority() }

    private func token(header: String = #"{"alg":"ES256","typ":"JWT","kid":"KID"}"#, claims: String? = nil) throws
        -> String
    {
        try authority.forge(
            header: header.replacing("KID", with: authority.key.id.rawValue), claims: claims ?? self.claims
        )
    }

    @Test(arguments: ["JWT", "jwt", "application/jwt"])
    func `the unchanged token of the tests below is accepted`(type: String) throws {
        let header = #"{"alg":"ES256","typ":"\#(type)","kid":"KID"}"#
        #expect(try authority.verifyIDToken(token(header: header)).refusal == nil)
        #expect(try authority.verifyIDToken(token(header: #"{"alg":"ES256"}"#)).refusal == nil)
    }

    // OpenID Connect Core §3.1.3.7.
    @Test(arguments: [
        (#""iss":"https://id.example.com""#, #""iss":"https://id.example.com/""#, TokenRefusal.wrongIssuer),
        (#""iss":"https://id.example.com""#, #""iss":"https://evil.example""#, .wrongIssuer),
        (#""iss":"https://id.example.com","#, "", .missingClaim("iss")),
        (#""aud":"lightbox""#, #""aud":"other""#, .wrongAudience),
        (#""aud":"lightbox""#, #""aud":"Lightbox""#, .wrongAudience),
        (#""aud":"lightbox""#, #""aud":["lightbox","other"]"#, .wrongAudience),
        (#""aud":"lightbox""#, #""aud":["lightbox","other"],"azp":"lightbox""#, .wrongAudience),
        (#""aud":"lightbox","#, "", .missingClaim("aud")),
        (#""aud":"lightbox""#, #""aud":"lightbox","azp":"other""#, .wrongAuthorizedParty),
        (#""aud":"lightbox""#, #""aud":"lightbox","azp":["lightbox"]"#, .invalidClaim("azp")),
        (#""aud":"lightbox""#, #""aud":["lightbox","lightbox"]"#, .wrongAuthorizedParty),
        (#""sub":"ada","#, "", .missingClaim("sub")),
        (#""sub":"ada""#, #""sub":"""#, .invalidClaim("sub")),
        (#""sub":"ada""#, #""sub":7"#, .invalidClaim("sub")),
        (#""sub":"ada""#, #""sub":"\#(String(repeating: "a", count: 256))""#, .invalidClaim("sub")),
        (#""exp":1800000600"#, #""exp":1799999970"#, .expired),
        (#""exp":1800000600,"#, "", .missingClaim("exp")),
        (#""iat":1800000000,"#, "", .missingClaim("iat")),
        (#""iat":1800000000"#, #""iat":1800000060"#, .notYetValid),
        (#","nonce":"n-0S6_WzA2Mj""#, "", .missingClaim("nonce")),
        (#""nonce":"n-0S6_WzA2Mj""#, #""nonce":"n-0S6_WzA2Mk""#, .wrongNonce),
        (#""nonce":"n-0S6_WzA2Mj""#, #""nonce":"""#, .invalidClaim("nonce")),
        (#""nonce":"n-0S6_WzA2Mj""#, #""nonce":"n-0S6_WzA2Mj","nonce":"n-0S6_WzA2Mj""#, .malformed(.claims)),
    ])
    func `an invalid claim is refused`(part: String, forged: String, expected: TokenRefusal) throws {
        let changed = claims.replacing(part, with: forged)
        #expect(changed != claims)
        #expect(try authority.verifyIDToken(token(claims: changed)).refusal == expected)
    }

    // OpenID Connect Core §3.1.3.7 points 6 to 8.
    @Test(arguments: [
        (#"{"alg":"none","typ":"JWT"}"#, TokenRefusal.algorithmNotAllowed),
        (#"{"alg":"nOnE","typ":"JWT"}"#, .algorithmNotAllowed),
        (#"{"typ":"JWT","kid":"KID"}"#, .algorithmNotAllowed),
        (#"{"alg":"ES256","typ":"at+jwt","kid":"KID"}"#, .wrongType),
        (#"{"alg":"ES256","typ":"logout+jwt","kid":"KID"}"#, .wrongType),
        (#"{"alg":"ES256","typ":"JWT","kid":"other"}"#, .unknownKey(KeyIdentifier("other"))),
        (#"{"alg":"ES256","typ":"JWT","kid":"KID","jku":"https://evil.example"}"#, .headerNotAllowed("jku")),
        (#"{"alg":"ES256","typ":"JWT","kid":"KID","crit":[]}"#, .headerNotAllowed("crit")),
    ])
    func `an invalid header is refused`(header: String, expected: TokenRefusal) throws {
        #expect(try authority.verifyIDToken(token(header: header)).refusal == expected)
    }

    // Only the algorithm that is registered for the client is accepted.
    @Test func `an algorithm other than the registered one is refused`() throws {
        let verifier = IDTokenVerifier(issuer: authority.issuer, clientID: authority.clientID, algorithms: [.rs256])
        #expect(try authority.verifyIDToken(token(), by: verifier).refusal == .algorithmNotAllowed)
        let input = Authority.unsigned(header: #"{"alg":"HS256","typ":"JWT"}"#, claims: claims)
        let secret = SymmetricKey(data: Data("the client secret".utf8))
        let code = HMAC<SHA256>.authenticationCode(for: Data(input.utf8), using: secret)
        let forged = input + "." + Base64URL.encode(Data(code))
        #expect(try authority.verifyIDToken(forged).refusal == .algorithmNotAllowed)
    }

    // OpenID Connect Core §3.1.3.7 points 3 to 5: the client chooses which other audiences it trusts.
    @Test func `an additional audience is accepted only if it is trusted`() throws {
        let verifier = IDTokenVerifier(
            issuer: authority.issuer, clientID: authority.clientID, trustedAudiences: ["https://api.example.com"]
        )
        let both = #""aud":["https://api.example.com","lightbox"]"#
        let without = try token(claims: claims.replacing(#""aud":"lightbox""#, with: both))
        #expect(try authority.verifyIDToken(without, by: verifier).refusal == .wrongAuthorizedParty)
        let with = try token(claims: claims.replacing(#""aud":"lightbox""#, with: both + #","azp":"lightbox""#))
        #expect(try authority.verifyIDToken(with, by: verifier).refusal == nil)
        #expect(try authority.verifyIDToken(with).refusal == .wrongAudience)
    }

    // OpenID Connect Core §3.1.3.7 point 13.
    @Test(arguments: [
        ("", TokenRefusal.missingClaim("auth_time")),
        (#","auth_time":"1799999999""#, .invalidClaim("auth_time")),
        (#","auth_time":1799999669"#, .authenticationTooOld),
        (#","auth_time":1800000031"#, .notYetValid),
        (#","auth_time":1799999670"#, nil),
    ])
    func `the age of the sign-in is checked if it was requested`(claim: String, expected: TokenRefusal?) throws {
        let token = try token(claims: claims.replacing(#"Mj""#, with: #"Mj""# + claim))
        #expect(try authority.verifyIDToken(token, maxAge: 300).refusal == expected)
    }

    // OpenID Connect Core §3.1.3.7 point 12.
    @Test(arguments: [
        ("", TokenRefusal.missingClaim("acr")), (#","acr":"password""#, .wrongAuthenticationContext),
        (#","acr":["passkey"]"#, .invalidClaim("acr")), (#","acr":"passkey""#, nil),
    ])
    func `the authentication context is checked if it was requested`(claim: String, expected: TokenRefusal?) throws {
        let token = try token(claims: claims.replacing(#"Mj""#, with: #"Mj""# + claim))
        #expect(try authority.verifyIDToken(token, contexts: ["passkey"]).refusal == expected)
    }

    // RFC 8176 §1
    @Test(arguments: [#""pwd""#, "7", #"["pwd",7]"#])
    func `an ID token whose amr is not an array of strings counts as one without amr`(amr: String) throws {
        let token = try token(claims: claims.replacing(#"Mj""#, with: #"Mj","amr":"# + amr))
        #expect(try authority.verifyIDToken(token).get().authenticationMethods.isEmpty)
    }

    // OpenID Connect Core §3.1.3.8.
    @Test func `an ID token for another access token is refused`() throws {
        var claims = authority.idTokenClaims()
        let (mine, other) = (try #require(AccessToken("mine")), try #require(AccessToken("other")))
        claims.accessTokenHash = IDTokenClaims.accessTokenHash(of: mine, algorithm: .es256)
        let token = try authority.key.sign(claims)
        #expect(try authority.verifyIDToken(token, accessToken: mine).refusal == nil)
        #expect(try authority.verifyIDToken(token, accessToken: other).refusal == .wrongAccessTokenHash)
    }
}
