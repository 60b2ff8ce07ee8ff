import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilResource
import CounterfoilTokens
import Crypto
import Foundation
import HTTPTypes
import Testing

@Suite struct VerificationTests {
    private func refusal(of token: String, by server: ResourceServer) async throws -> AccessRefusal {
        try await #require(throws: AccessRefusal.self) {
            try await server.access(for: .get(authorization: "Bearer \(token)"))
        }
    }

    // RFC 9068 §4.
    @Test func `a valid token names the client and the user`() async throws {
        try await Authority.run { authority async throws in
            let token = try authority.token(subject: "anna", scope: "photos.read openid")
            let access = try await authority.resourceServer().access(
                for: .get(authorization: "Bearer \(token)"), requiring: try Scope(parsing: "photos.read"))
            #expect(access.party == .user(try access.user()))
            #expect(try access.user().subject == "anna")
            #expect(access.issuer == authority.issuer)
            #expect(access.clientID.rawValue == "lightbox")
            #expect(access.scope == (try Scope(parsing: "openid photos.read")))
            #expect(access.expires == Authority.now.addingTimeInterval(3600))
            #expect(access.tokenID == "t-1")
        }
    }

    // RFC 9068 §2.1: RS256 is supported.
    @Test func `a token signed with RSA is accepted`() async throws {
        try await Authority.run(algorithm: .rs256) { authority async throws in
            let token = try authority.token()
            let access = try await authority.resourceServer().access(for: .get(authorization: "Bearer \(token)"))
            #expect(access.subject == "anna")
        }
    }

    // RFC 9068 §4: tokens of other types are rejected, in particular ID tokens.
    @Test(arguments: ["JWT", "logout+jwt", "dpop+jwt", "at+jwtx", ""])
    func `a token of another type is refused`(type: String) async throws {
        try await Authority.run { authority async throws in
            let token = try authority.signingKey.sign(authority.claims(), type: TokenType(rawValue: type))
            let refusal = try await refusal(of: token, by: authority.resourceServer())
            #expect(refusal.status == .unauthorized)
            #expect(refusal.error?.code == .invalidToken)
        }
    }

    // RFC 9068 §5: an API with the type JWT accepts access tokens of both types, and no ID token of its audience.
    @Test func `an API that is registered with JWT accepts access tokens only`() async throws {
        try await Authority.run { authority async throws in
            let key = try authority.signingKey
            let server = ResourceServer(
                issuer: authority.issuer, audience: Authority.audience,
                keys: KeySetCache(source: HTTPKeySetSource(issuer: authority.issuer)), tokenType: .jwt,
                now: { Authority.now })
            for type in AccessTokenType.allCases {
                let token = try key.sign(authority.claims(), type: type.header)
                let access = try await server.access(for: .get(authorization: "Bearer \(token)"))
                #expect(access.subject == "anna")
            }
            let idToken = try key.sign(
                IDTokenClaims(
                    issuer: authority.issuer, subject: "anna", audience: [Authority.audience],
                    expires: Authority.now.addingTimeInterval(300), issuedAt: Authority.now,
                    nonce: Nonce("n-0S6_WzA2Mj")))
            let scopeless = try key.sign(authority.claims(scope: ""), type: AccessTokenType.jwt.header)
            let other = try key.sign(authority.claims(), type: TokenType(rawValue: "logout+jwt"))
            for token in [idToken, scopeless, other] {
                let refusal = try await refusal(of: token, by: server)
                #expect(refusal.status == .unauthorized)
                #expect(refusal.error?.code == .invalidToken)
            }
        }
    }

    // RFC 7515 §4.1.9: the short and the long form, case-insensitive.
    @Test(arguments: ["at+jwt", "application/at+jwt", "AT+JWT"])
    func `a token of the right type is accepted in any spelling of the type`(type: String) async throws {
        try await Authority.run { authority async throws in
            let token = try authority.signingKey.sign(authority.claims(), type: TokenType(rawValue: type))
            let access = try await authority.resourceServer().access(for: .get(authorization: "Bearer \(token)"))
            #expect(access.subject == "anna")
        }
    }

    // RFC 9068 §5.
    @Test func `an ID token and a token without type are refused`() async throws {
        try await Authority.run { authority async throws in
            let key = try authority.signingKey
            let idToken = try key.sign(
                IDTokenClaims(
                    issuer: authority.issuer, subject: "anna", audience: [Authority.audience],
                    expires: Authority.now.addingTimeInterval(300), issuedAt: Authority.now))
            let untyped = try Forgery(
                header: #"{"alg":"ES256","kid":"\#(key.id)"}"#, claimsOf: try authority.token()
            ).signed(by: key)
            for token in [idToken, untyped] {
                let refusal = try await refusal(of: token, by: authority.resourceServer())
                #expect(refusal.status == .unauthorized)
            }
        }
    }

    // RFC 8725 §3.1: no spelling of `none` and no missing `alg` is accepted.
    @Test(arguments: [#""alg":"none","#, #""alg":"None","#, #""alg":"nOnE","#, #""alg":"","#, ""])
    func `an unsigned token is refused`(algorithm: String) async throws {
        try await Authority.run { authority async throws in
            let honest = try authority.token()
            let forged = Forgery(
                header: #"{\#(algorithm)"typ":"at+jwt","kid":"\#(try authority.signingKey.id)"}"#, claimsOf: honest)
            let signature = honest.split(separator: ".")[2]
            for token in [forged.unsigned, forged.unsigned + signature] {
                let refusal = try await refusal(of: token, by: authority.resourceServer())
                #expect(refusal.status == .unauthorized)
            }
        }
    }

    // RFC 8725 §2.1: a public key is not accepted as an HMAC secret.
    @Test func `a token with an HMAC by the public key is refused`() async throws {
        try await Authority.run { authority async throws in
            let key = try authority.signingKey
            let publicKey = try P256.Signing.PrivateKey(rawRepresentation: key.privateRepresentation).publicKey
            let forged = Forgery(
                header: #"{"alg":"HS256","typ":"at+jwt","kid":"\#(key.id)"}"#, claimsOf: try authority.token())
            let secrets = [
                Data(publicKey.pemRepresentation.utf8), publicKey.rawRepresentation, publicKey.x963Representation,
                publicKey.derRepresentation, Data(JSONWebKeySet(keys: [key.publicKey]).encoded()), Data(),
            ]
            for secret in secrets {
                let refusal = try await refusal(
                    of: forged.authenticated(under: secret), by: authority.resourceServer())
                #expect(refusal.status == .unauthorized)
            }
        }
    }

    // RFC 8725 §3.10, RFC 7515 §4.1.11: the token must not select rules or keys, even with a valid signature.
    @Test(arguments: [
        #""jku":"https://evil.example/jwks""#, #""x5u":"https://evil.example/cert""#, #""crit":["exp"],"exp":1"#,
        #""crit":[]"#, #""jwk":{"kty":"EC"}"#, #""x5c":["AAAA"]"#,
    ])
    func `a header with keys or critical extensions is refused`(member: String) async throws {
        try await Authority.run { authority async throws in
            let key = try authority.signingKey
            let token = try Forgery(
                header: #"{"alg":"ES256","typ":"at+jwt","kid":"\#(key.id)",\#(member)}"#,
                claimsOf: try authority.token()
            ).signed(by: key)
            let refusal = try await refusal(of: token, by: authority.resourceServer())
            #expect(refusal.status == .unauthorized)
        }
    }

    // RFC 9449 §7.2: a token that is bound to a key by any method is not valid as a bearer token.
    @Test(arguments: [
        #"{"jkt":"0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"}"#,
        #"{"x5t#S256":"bwcK0esc3ACC3DB2Y5_lESsXE8o9ltc05O89jdN-dg2"}"#,
        "{}", "null",
    ])
    func `a token that is bound to a key is refused as a bearer token`(confirmation: String) async throws {
        try await Authority.run { authority async throws in
            let key = try authority.signingKey
            let honest = try authority.token()
            let header = #"{"alg":"ES256","typ":"at+jwt","kid":"\#(key.id)"}"#
            let template = Forgery(header: header, claimsOf: honest)
            let bound = Forgery(
                header: header, claims: String(template.claims.dropLast()) + #","cnf":"# + confirmation + "}")
            let refusal = try await refusal(of: bound.signed(by: key), by: authority.resourceServer())
            #expect(refusal.status == .unauthorized)
            #expect(refusal.error?.code == .invalidToken)
        }
    }

    // A signature of another key is not accepted, whatever `kid` it states.
    @Test func `a signature by another key is refused`() async throws {
        try await Authority.run { authority async throws in
            let stranger = try SigningKey.generate(.es256)
            let server = authority.resourceServer()
            let unknown = try await refusal(of: try stranger.sign(authority.claims()), by: server)
            #expect(unknown.status == .unauthorized)
            let posing = try Forgery(
                header: #"{"alg":"ES256","typ":"at+jwt","kid":"\#(try authority.signingKey.id)"}"#,
                claimsOf: try authority.token()
            ).signed(by: stranger)
            #expect(try await refusal(of: posing, by: server).status == .unauthorized)
        }
    }

    // RFC 9068 §4: the issuer must match byte for byte.
    @Test(arguments: ["/", "/other", "0", "#"])
    func `a token of a similar issuer is refused`(suffix: String) async throws {
        try await Authority.run { authority async throws in
            let honest = try authority.token()
            let key = try authority.signingKey
            let template = Forgery(
                header: #"{"alg":"ES256","typ":"at+jwt","kid":"\#(key.id)"}"#, claimsOf: honest)
            let renamed = template.claims.replacing(
                #""iss":"\#(authority.issuer)""#, with: #""iss":"\#(authority.issuer)\#(suffix)""#)
            #expect(renamed != template.claims)
            let token = try Forgery(header: template.header, claims: renamed).signed(by: key)
            let refusal = try await refusal(of: token, by: authority.resourceServer())
            #expect(refusal.status == .unauthorized)
        }
    }

    // RFC 9068 §4: the audience must contain this API, alone or among others.
    @Test func `a token for another audience is refused`() async throws {
        try await Authority.run { authority async throws in
            let server = authority.resourceServer()
            for audience in [["https://other.example"], [Authority.audience + "/mcp"], ["http://photos.example"]] {
                var claims = try authority.claims()
                claims.audience = audience
                let refusal = try await refusal(of: try authority.signingKey.sign(claims), by: server)
                #expect(refusal.status == .unauthorized)
            }
            var several = try authority.claims()
            several.audience = ["https://other.example", Authority.audience]
            let token = try authority.signingKey.sign(several)
            let access = try await server.access(for: .get(authorization: "Bearer \(token)"))
            #expect(access.audience == Authority.audience)
        }
    }

    // RFC 7519 §4.1.4: valid before `exp`, with a clock skew of at most 30 seconds.
    @Test func `a token expires at its exp claim`() async throws {
        try await Authority.run { authority async throws in
            let clock = TestClock()
            let server = authority.resourceServer(clock: clock)
            let token = try authority.token()
            clock.advance(by: 3600 + 29)
            _ = try await server.access(for: .get(authorization: "Bearer \(token)"))
            clock.advance(by: 1)
            let refusal = try await refusal(of: token, by: server)
            #expect(refusal.status == .unauthorized)
            #expect(refusal.error?.description == "the token has expired")
        }
    }

    // RFC 9068 §2.2: a token without a required claim is rejected.
    @Test(arguments: ["iss", "exp", "aud", "sub", "client_id", "iat", "jti"])
    func `a token without a required claim is refused`(claim: String) async throws {
        try await Authority.run { authority async throws in
            let key = try authority.signingKey
            let template = Forgery(
                header: #"{"alg":"ES256","typ":"at+jwt","kid":"\#(key.id)"}"#, claimsOf: try authority.token())
            let renamed = template.claims.replacing("\"\(claim)\":", with: "\"x_\(claim)\":")
            #expect(renamed != template.claims)
            let token = try Forgery(header: template.header, claims: renamed).signed(by: key)
            let refusal = try await refusal(of: token, by: authority.resourceServer())
            #expect(refusal.status == .unauthorized)
            #expect(refusal.error?.code == .invalidToken)
        }
    }

    // RFC 9068 §2.2, RFC 9700 §4.15: a client is never treated as the user with the same identifier.
    @Test func `a client whose identifier equals a user's is still a client`() async throws {
        try await Authority.run { authority async throws in
            let token = try authority.token(subject: "anna", clientID: "anna")
            let access = try await authority.resourceServer().access(for: .get(authorization: "Bearer \(token)"))
            #expect(access.party == .client(access.clientID))
            let refusal = #expect(throws: AccessRefusal.self) { try access.user() }
            #expect(refusal?.status == .forbidden)
            #expect(refusal?.challenge == nil)
        }
    }
}
