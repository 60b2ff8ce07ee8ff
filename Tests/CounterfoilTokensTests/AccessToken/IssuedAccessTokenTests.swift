import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import Testing

/// The verification of access tokens by their issuer, for revocation and introspection.
struct IssuedAccessTokenTests {
    private static func verify(_ token: String, by authority: Authority) -> Result<IssuedAccessToken, TokenRefusal> {
        Result { () throws(TokenRefusal) in
            try IssuedAccessTokenVerifier(issuer: authority.issuer).verify(AnyToken(token), keys: authority.keys)
        }
    }

    // The verifier accepts any audience and expired tokens; `isCurrent` checks the validity period separately.
    @Test func `an issued token of any audience and any age is recognized`() throws {
        let authority = try Authority()
        var claims = try authority.accessTokenClaims()
        claims.audience = ["https://one.example.com", "https://other.example.com"]
        let issued = try Self.verify(try authority.key.sign(claims), by: authority).get()
        #expect(issued.claims == claims)
        #expect(issued.isCurrent(at: Authority.now))
        #expect(issued.isCurrent(at: Authority.now.addingTimeInterval(3599)))
        #expect(!issued.isCurrent(at: Authority.now.addingTimeInterval(3600)))
        // After the clock was set back, the token is still current.
        #expect(issued.isCurrent(at: Authority.now.addingTimeInterval(-3600)))
    }

    // `nbf` is checked if present.
    @Test func `a token that is not valid yet is not current`() throws {
        let authority = try Authority()
        let claims = String(authority.claims.dropLast()) + #","nbf":1800000060}"#
        let issued = try Self.verify(try authority.forge(claims: claims), by: authority).get()
        #expect(!issued.isCurrent(at: Authority.now))
        #expect(issued.isCurrent(at: Authority.now.addingTimeInterval(60)))
    }

    // All other checks are the same as in the other verifiers.
    @Test func `a token of another kind, issuer or key is not recognized`() throws {
        let authority = try Authority()
        let idToken = try authority.key.sign(authority.idTokenClaims())
        #expect(Self.verify(idToken, by: authority).refusal == .wrongType)
        let foreign = try Authority().key.sign(try authority.accessTokenClaims())
        #expect(Self.verify(foreign, by: authority).refusal != nil)
        let issuer = authority.claims.replacing("https://id.example.com", with: "https://other.example.com")
        #expect(Self.verify(try authority.forge(claims: issuer), by: authority).refusal == .wrongIssuer)
        for text in ["", ".", "a.b.c", String(repeating: "x", count: 20_000)] {
            #expect(Self.verify(text, by: authority).refusal != nil)
        }
    }
}
