import CounterfoilProtocol
import CounterfoilTokens
import Crypto
import Foundation
import Testing

struct AccessTokenRefusalTests {
    let authority: Authority

    init() throws { authority = try Authority() }

    @Test func `the unchanged token of the tests below is accepted`() throws {
        #expect(try authority.verifyAccessToken(authority.forge()).refusal == nil)
    }

    // RFC 8725 §3.1, §3.10, §3.11.
    @Test(arguments: [
        (#"{"alg":"none","typ":"at+jwt"}"#, TokenRefusal.algorithmNotAllowed),
        (#"{"alg":"None","typ":"at+jwt","kid":"KID"}"#, .algorithmNotAllowed),
        (#"{"alg":"nOnE","typ":"at+jwt","kid":"KID"}"#, .algorithmNotAllowed),
        (#"{"alg":"","typ":"at+jwt","kid":"KID"}"#, .algorithmNotAllowed),
        (#"{"typ":"at+jwt","kid":"KID"}"#, .algorithmNotAllowed),
        (#"{"alg":"es256","typ":"at+jwt","kid":"KID"}"#, .algorithmNotAllowed),
        (#"{"alg":"ES256K","typ":"at+jwt","kid":"KID"}"#, .algorithmNotAllowed),
        (#"{"alg":"HS256","typ":"at+jwt","kid":"KID"}"#, .algorithmNotAllowed),
        (#"{"alg":"PS256","typ":"at+jwt","kid":"KID"}"#, .algorithmNotAllowed),
        (#"{"alg":["ES256"],"typ":"at+jwt","kid":"KID"}"#, .malformed(.header)),
        (#"{"alg":null,"typ":"at+jwt","kid":"KID"}"#, .malformed(.header)),
        (#"{"alg":"RS256","typ":"at+jwt","kid":"KID"}"#, .unknownKey(nil)),
        (#"{"alg":"EdDSA","typ":"at+jwt","kid":"KID"}"#, .unknownKey(nil)),
        (#"{"alg":"ES256","kid":"KID"}"#, .wrongType),
        (#"{"alg":"ES256","typ":"JWT","kid":"KID"}"#, .wrongType),
        (#"{"alg":"ES256","typ":"","kid":"KID"}"#, .wrongType),
        (#"{"alg":"ES256","typ":"logout+jwt","kid":"KID"}"#, .wrongType),
        (#"{"alg":"ES256","typ":"dpop+jwt","kid":"KID"}"#, .wrongType),
        (#"{"alg":"ES256","typ":"text/at+jwt","kid":"KID"}"#, .wrongType),
        (#"{"alg":"ES256","typ":" at+jwt","kid":"KID"}"#, .wrongType),
        (#"{"alg":"ES256","typ":"at\u212Ajwt","kid":"KID"}"#, .wrongType),
        (#"{"alg":"ES256","typ":"at+jwt","kid":"KID","crit":["exp"],"exp":1}"#, .headerNotAllowed("crit")),
        (#"{"alg":"ES256","typ":"at+jwt","kid":"KID","crit":["b64"],"b64":false}"#, .headerNotAllowed("crit")),
        (#"{"alg":"ES256","typ":"at+jwt","kid":"KID","crit":null}"#, .headerNotAllowed("crit")),
        (#"{"alg":"ES256","typ":"at+jwt","kid":"KID","jku":"https://evil.example/jwks"}"#, .headerNotAllowed("jku")),
        (#"{"alg":"ES256","typ":"at+jwt","kid":"KID","x5u":"https://evil.example/x"}"#, .headerNotAllowed("x5u")),
        (#"{"alg":"ES256","typ":"at+jwt","kid":"KID","x5c":["MIIB"]}"#, .headerNotAllowed("x5c")),
        (#"{"alg":"ES256","typ":"at+jwt","kid":"KID","jwk":{"kty":"EC"}}"#, .headerNotAllowed("jwk")),
        (#"{"alg":"ES256","alg":"ES256","typ":"at+jwt","kid":"KID"}"#, .malformed(.header)),
        (#"{"alg":"ES256","\u0061lg":"none","typ":"at+jwt","kid":"KID"}"#, .malformed(.header)),
        (#"{"alg":"ES256","typ":"at+jwt","kid":17}"#, .malformed(.header)),
        (#"{"alg":"ES256","typ":"at+jwt","kid":"KID"} "x""#, .malformed(.header)),
        (#"["ES256"]"#, .malformed(.header)),
        (#""#, .malformed(.header)),
    ])
    func `an invalid header is refused`(header: String, expected: TokenRefusal) throws {
        let token = try authority.forge(header: header.replacing("KID", with: authority.key.id.rawValue))
        let refusal = try #require(authority.verifyAccessToken(token).refusal)
        if case .unknownKey(nil) = expected {
            #expect(refusal == .unknownKey(authority.key.id))
        } else {
            #expect(refusal == expected)
        }
    }

    // RFC 9068 §4: case-insensitive, with or without the prefix application/.
    @Test(arguments: ["at+jwt", "AT+JWT", "at+JWT", "application/at+jwt", "Application/AT+jwt"])
    func `the type is compared like a media type`(type: String) throws {
        let header = authority.header.replacing(#""at+jwt""#, with: "\"\(type)\"")
        #expect(try authority.verifyAccessToken(authority.forge(header: header)).refusal == nil)
    }

    // RFC 8725 §3.1: the public key is not accepted as an HMAC secret in any encoding.
    @Test func `a token with an HMAC by the public key is refused`() throws {
        let secret = try P256.Signing.PrivateKey(rawRepresentation: authority.key.privateRepresentation)
        let forms: [Data] = [
            Data(authority.keys.encoded()), try JSONEncoder().encode(authority.key.publicKey),
            Data(secret.publicKey.pemRepresentation.utf8), secret.publicKey.derRepresentation,
            secret.publicKey.x963Representation, secret.publicKey.rawRepresentation,
        ]
        for form in forms {
            for algorithm in ["HS256", "ES256"] {
                let header = authority.header.replacing("ES256", with: algorithm)
                let input = Authority.unsigned(header: header, claims: authority.claims)
                let code = HMAC<SHA256>.authenticationCode(for: Data(input.utf8), using: SymmetricKey(data: form))
                let refusal = authority.verifyAccessToken(input + "." + Base64URL.encode(Data(code))).refusal
                #expect(refusal == (algorithm == "HS256" ? .algorithmNotAllowed : .badSignature))
            }
        }
    }

    // RFC 9068 §4 and RFC 7519 §4.1.
    @Test(arguments: [
        (#""iss":"https://id.example.com""#, #""iss":"https://id.example.com/""#, TokenRefusal.wrongIssuer),
        (#""iss":"https://id.example.com""#, #""iss":"http://id.example.com""#, .wrongIssuer),
        (#""iss":"https://id.example.com""#, #""iss":"https://id.example.com/tenant""#, .wrongIssuer),
        (#""iss":"https://id.example.com""#, #""iss":"https://ID.example.com""#, .wrongIssuer),
        (#""iss":"https://id.example.com""#, #""iss":["https://id.example.com"]"#, .invalidClaim("iss")),
        (#""iss":"https://id.example.com","#, "", .missingClaim("iss")),
        (#""aud":"https://api.example.com""#, #""aud":"https://api.example.com/""#, .wrongAudience),
        (#""aud":"https://api.example.com""#, #""aud":"lightbox""#, .wrongAudience),
        (#""aud":"https://api.example.com""#, #""aud":["https://other.example.com"]"#, .wrongAudience),
        (#""aud":"https://api.example.com""#, #""aud":[]"#, .invalidClaim("aud")),
        (#""aud":"https://api.example.com""#, #""aud":["https://api.example.com",1]"#, .invalidClaim("aud")),
        (#""aud":"https://api.example.com""#, #""aud":{"https://api.example.com":1}"#, .invalidClaim("aud")),
        (#""aud":"https://api.example.com","#, "", .missingClaim("aud")),
        (#""exp":1800003600"#, #""exp":1799999970"#, .expired),
        (#""exp":1800003600"#, #""exp":0"#, .expired),
        (#""exp":1800003600"#, #""exp":"1800003600""#, .invalidClaim("exp")),
        (#""exp":1800003600"#, #""exp":-1"#, .invalidClaim("exp")),
        (#""exp":1800003600"#, #""exp":1e300"#, .invalidClaim("exp")),
        (#""exp":1800003600"#, #""exp":true"#, .invalidClaim("exp")),
        (#""exp":1800003600,"#, "", .missingClaim("exp")),
        (#""iat":1800000000"#, #""iat":1800000031"#, .notYetValid),
        (#""iat":1800000000"#, #""iat":"1800000000""#, .invalidClaim("iat")),
        (#""iat":1800000000,"#, "", .missingClaim("iat")),
        (#""iat":1800000000"#, #""iat":1800000000,"nbf":1800000031"#, .notYetValid),
        (#""iat":1800000000"#, #""iat":1800000000,"nbf":null"#, .invalidClaim("nbf")),
        (#""sub":""#, #""sub":"","x":""#, .invalidClaim("sub")),
        (#""sub":""#, #""x":""#, .missingClaim("sub")),
        (#""client_id":"lightbox","#, "", .missingClaim("client_id")),
        (#""client_id":"lightbox""#, #""client_id":"light\nbox""#, .invalidClaim("client_id")),
        (#""jti":"kPrK_qmxVWaYVA9w","#, "", .missingClaim("jti")),
        (#""scope":"photos.read""#, #""scope":["photos.read"]"#, .invalidClaim("scope")),
        (#""scope":"photos.read""#, #""scope":"photos.read\tphotos.write""#, .invalidClaim("scope")),
        (#""scope":"photos.read""#, #""auth_time":"now""#, .invalidClaim("auth_time")),
        (#""scope":"photos.read""#, #""grant_id":5"#, .invalidClaim("grant_id")),
        (#""scope":"photos.read""#, #""scope":"photos.read","scope":"admin""#, .malformed(.claims)),
        (#""scope":"photos.read""#, #""scope":"photos.read","sc\u006Fpe":"admin""#, .malformed(.claims)),
        (#""scope":"photos.read""#, #""x":[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]"#, .malformed(.claims)),
        (#""scope":"photos.read"}"#, #""scope":"photos.read""#, .malformed(.claims)),
    ])
    func `an invalid claim is refused`(part: String, forged: String, expected: TokenRefusal) throws {
        let claims = authority.claims.replacing(part, with: forged)
        #expect(claims != authority.claims)
        #expect(try authority.verifyAccessToken(authority.forge(claims: claims)).refusal == expected)
    }

    // The clocks may differ by the allowed number of seconds, and no more.
    @Test(arguments: [
        (#""exp":1800003600"#, #""exp":1799999971"#), (#""exp":1800003600"#, #""exp":1799999970.5"#),
        (#""iat":1800000000"#, #""iat":1800000030"#), (#""iat":1800000000"#, #""iat":1800000000,"nbf":1800000030"#),
    ])
    func `a small clock difference is tolerated`(part: String, changed: String) throws {
        let token = try authority.forge(claims: authority.claims.replacing(part, with: changed))
        #expect(authority.verifyAccessToken(token).refusal == nil)
        let strict = AccessTokenVerifier(issuer: authority.issuer, audience: Authority.audience, clockSkew: 0)
        #expect(throws: TokenRefusal.self) { try strict.verify(token, keys: authority.keys, at: Authority.now) }
    }

    // RFC 9068 §5.
    @Test func `an ID token is not an access token, and an access token is not an ID token`() throws {
        let idToken = try authority.key.sign(authority.idTokenClaims())
        #expect(authority.verifyAccessToken(idToken).refusal == .wrongType)
        let accessToken = try authority.key.sign(try authority.accessTokenClaims())
        #expect(try authority.verifyIDToken(accessToken).refusal == .wrongType)
    }

    // The refusal contains the unknown key identifier, so that the resource server can fetch the key.
    @Test func `a token with an unknown key names the key in the error`() throws {
        let other = try SigningKey.generate(.es256)
        let token = try other.sign(try authority.accessTokenClaims())
        #expect(authority.verifyAccessToken(token).refusal == .unknownKey(other.id))
        #expect(throws: TokenRefusal.unknownKey(authority.key.id)) {
            try authority.accessTokens.verify(authority.forge(), keys: JSONWebKeySet(), at: Authority.now)
        }
        let impostor = try Authority().forge(header: authority.header)
        #expect(authority.verifyAccessToken(impostor).refusal == .badSignature)
    }

    // The API sets the allowlist, not the key set.
    @Test func `an algorithm outside the allow list is refused although its key is known`() throws {
        let verifier = AccessTokenVerifier(issuer: authority.issuer, audience: Authority.audience, algorithms: [.rs256])
        #expect(throws: TokenRefusal.algorithmNotAllowed) {
            try verifier.verify(authority.forge(), keys: authority.keys, at: Authority.now)
        }
    }

    // OpenID Connect Core §10.1: a token without a kid is accepted only if exactly one key matches.
    @Test func `a token without a key ID is verified only if one key is possible`() throws {
        let token = try authority.forge(header: #"{"alg":"ES256","typ":"at+jwt"}"#)
        #expect(authority.verifyAccessToken(token).refusal == nil)
        let two = JSONWebKeySet(keys: [authority.key.publicKey, try SigningKey.generate(.es256).publicKey])
        #expect(throws: TokenRefusal.unknownKey(nil)) {
            try authority.accessTokens.verify(token, keys: two, at: Authority.now)
        }
    }
}
