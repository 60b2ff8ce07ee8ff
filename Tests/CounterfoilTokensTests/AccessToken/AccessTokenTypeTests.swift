import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import Testing

/// Access tokens of the type `JWT`, which is also the type of ID tokens (RFC 9068 §5).
struct AccessTokenTypeTests {
    private let authority: Authority

    init() throws { authority = try Authority() }

    private var header: String { #"{"alg":"ES256","typ":"JWT","kid":"\#(authority.key.id)"}"# }

    private func verify(_ token: String, as type: AccessTokenType) -> Result<VerifiedAccessToken, TokenRefusal> {
        Result { () throws(TokenRefusal) in
            try AccessTokenVerifier(issuer: authority.issuer, audience: Authority.audience, type: type)
                .verify(token, keys: authority.keys, at: Authority.now)
        }
    }

    private func verifyDirectly(_ token: String) throws -> TokenRefusal? {
        let (token, authority) = (try #require(IDToken(token)), authority)
        return Result { () throws(TokenRefusal) in
            try authority.idTokens.verifyDirect(token, keys: authority.keys, accessToken: nil, at: Authority.now)
        }.refusal
    }

    private func hint(_ token: String) throws -> TokenRefusal? {
        let (token, authority) = (try #require(IDToken(token)), authority)
        return Result { () throws(TokenRefusal) in
            try IDTokenHintVerifier(issuer: authority.issuer).verify(token, keys: authority.keys)
        }.refusal
    }

    private func issued(_ token: String) throws -> TokenRefusal? {
        let (token, authority) = (AnyToken(token), authority)
        return Result { () throws(TokenRefusal) in
            try IssuedAccessTokenVerifier(issuer: authority.issuer).verify(token, keys: authority.keys)
        }.refusal
    }

    // RFC 9068 §4: the type JWT is refused unless the API asks for it.
    @Test func `only a verifier for JWT accepts an access token of that type`() throws {
        let plain = try authority.key.sign(authority.accessTokenClaims(), type: AccessTokenType.jwt.header)
        let standard = try authority.key.sign(authority.accessTokenClaims(), type: AccessTokenType.atJWT.header)
        #expect(verify(plain, as: .atJWT).refusal == .wrongType)
        #expect(verify(plain, as: .jwt).refusal == nil)
        #expect(verify(standard, as: .atJWT).refusal == nil)
        #expect(verify(standard, as: .jwt).refusal == nil)
        #expect(try issued(plain) == nil)
        #expect(try issued(standard) == nil)
        let untyped = try authority.forge(header: #"{"alg":"ES256","kid":"\#(authority.key.id)"}"#)
        #expect(verify(untyped, as: .jwt).refusal == .wrongType)
    }

    // RFC 9068 §5; the audience alone would let this ID token pass.
    @Test func `an ID token whose audience is the API is no access token`() throws {
        var claims = authority.idTokenClaims()
        claims.audience = [Authority.audience]
        let token = try authority.key.sign(claims)
        #expect(verify(token, as: .jwt).refusal == .wrongType)
        #expect(try issued(token) == .wrongType)
    }

    // RFC 9068 §5; the audience alone would let this access token pass.
    @Test func `an access token whose audience is the client is no ID token`() throws {
        var claims = try authority.accessTokenClaims()
        claims.audience = [authority.clientID.rawValue]
        let token = try authority.key.sign(claims, type: AccessTokenType.jwt.header)
        #expect(try verifyDirectly(token) == .wrongType)
        #expect(try hint(token) == .wrongType)
        #expect(try authority.verifyIDToken(token).refusal == .wrongType)
    }

    /// Every subset of the claims that tell the two kinds apart.
    private static let subsets: [[String]] = {
        let names = ["client_id", "jti", "scope", "nonce", "at_hash", "c_hash"]
        return (0..<(1 << names.count)).map { bits in
            names.enumerated().filter { bits & (1 << $0.offset) != 0 }.map(\.element)
        }
    }()

    // Each token of the type JWT is accepted as an access token or as an ID token, and never as both.
    @Test func `no token of the type JWT is accepted as both`() throws {
        for names in Self.subsets {
            let extra = names.map { #","\#($0)":"n-0S6_WzA2Mj""# }.joined()
            let claims = """
                {"iss":"https://id.example.com","sub":"ada","aud":["https://api.example.com","lightbox"],\
                "azp":"lightbox","exp":1800000600,"iat":1800000000\(extra)}
                """
            let token = try authority.forge(header: header, claims: claims)
            let access = [verify(token, as: .jwt).refusal, try issued(token)]
            let isAccessToken = names == ["client_id", "jti", "scope"]
            #expect(access.allSatisfy { ($0 == nil) == isAccessToken }, "\(names)")
            let verifier = IDTokenVerifier(
                issuer: authority.issuer, clientID: authority.clientID, trustedAudiences: [Authority.audience])
            let asIDToken = Result { () throws(TokenRefusal) in
                try verifier.verifyDirect(
                    try authority.idToken(token), keys: authority.keys, accessToken: nil, at: Authority.now)
            }
            #expect((asIDToken.refusal == .wrongType) == isAccessToken, "\(names)")
            #expect((try hint(token) == .wrongType) == isAccessToken, "\(names)")
        }
    }
}

extension Authority {
    fileprivate func idToken(_ token: String) throws(TokenRefusal) -> IDToken {
        guard let token = IDToken(token) else { throw .malformed(.serialization) }
        return token
    }
}
