import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import Testing

/// The claim `cnf` of access tokens (RFC 9449 §6.1 and §7.1).
struct BoundAccessTokenTests {
    let authority: Authority

    init() throws { authority = try Authority() }

    private func refusal(
        confirmation: String?, provenKey: KeyThumbprint?
    ) throws -> TokenRefusal? {
        let claims = confirmation.map { authority.claims.replacing(#""iss""#, with: #""cnf":\#($0),"iss""#) }
        let token = try authority.forge(claims: claims)
        return Result { () throws(TokenRefusal) in
            try authority.accessTokens.verify(token, keys: authority.keys, provenKey: provenKey, at: Authority.now)
        }.refusal
    }

    // RFC 9449 §7.1 and §7.2.
    @Test func `a bound token needs a proof of its key, and a proof needs a bound token`() throws {
        let thumbprint = try SigningKey.generate(.es256).publicKey.thumbprint
        let own = try #require(KeyThumbprint(thumbprint))
        let other = try #require(KeyThumbprint(try SigningKey.generate(.es256).publicKey.thumbprint))
        let bound = #"{"jkt":"\#(thumbprint)"}"#
        #expect(try refusal(confirmation: bound, provenKey: own) == nil)
        #expect(try refusal(confirmation: bound, provenKey: nil) == .boundToKey)
        #expect(try refusal(confirmation: bound, provenKey: other) == .boundToAnotherKey)
        #expect(try refusal(confirmation: nil, provenKey: own) == .notBoundToKey)
        #expect(try refusal(confirmation: nil, provenKey: nil) == nil)
    }

    // A token that is bound in a way that is not understood is no bearer token.
    @Test(arguments: [
        "null", "{}", "[]", #""x""#, #"{"jkt":"short"}"#, #"{"jkt":1}"#,
        #"{"x5t#S256":"bwcK0esc3ACC3DB2Y5_lESsXE8o9ltc05O89jdN-dg2"}"#,
        #"{"jkt":"0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I","jwk":{}}"#,
    ])
    func `an unknown confirmation is refused`(confirmation: String) throws {
        let proven = KeyThumbprint("0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I")
        for key in [nil, proven] {
            #expect(try refusal(confirmation: confirmation, provenKey: key) == .invalidClaim("cnf"))
        }
    }

    // RFC 8725 §3.10: only a proof may contain its key.
    @Test func `an access token and an ID token with the key in the header are refused`() throws {
        let jwk = try Prover().jwk
        for type in ["at+jwt", "JWT"] {
            let header = #"{"alg":"ES256","typ":"\#(type)","kid":"\#(authority.key.id)","jwk":\#(jwk)}"#
            let token = try authority.forge(header: header)
            let refusal =
                type == "JWT"
                ? try authority.verifyIDToken(token).refusal : authority.verifyAccessToken(token).refusal
            #expect(refusal == .headerNotAllowed("jwk"))
        }
    }

    // RFC 9449 §4.3 check 4; neither kind of token is accepted as the other.
    @Test func `a proof is no access token, and an access token is no proof`() throws {
        let prover = try Prover()
        #expect(try authority.verifyAccessToken(prover.proof()).refusal == .wrongType)
        #expect(try prover.verify(authority.forge()).refusal == .token(.wrongType))
    }
}
