import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import Testing

/// The claims of a DPoP proof (RFC 9449 §4.3 checks 3 and 8 to 12).
struct ProofClaimTests {
    let prover: Prover

    init() throws { prover = try Prover() }

    // RFC 9449 §4.3.
    @Test(arguments: [
        (#""jti":"-BwC3ESc6acc2lTc","#, "", DPoPProofRefusal.token(.missingClaim("jti"))),
        (#""-BwC3ESc6acc2lTc""#, "\"\"", .token(.invalidClaim("jti"))),
        (#""-BwC3ESc6acc2lTc""#, "17", .token(.invalidClaim("jti"))),
        (#""htm":"GET","#, "", .token(.missingClaim("htm"))),
        (#""GET""#, #""POST""#, .wrongMethod),
        (#""GET""#, #""get""#, .wrongMethod),
        (#""GET""#, #"["GET"]"#, .token(.invalidClaim("htm"))),
        (#""htu":"https://api.example.com/photos","#, "", .token(.missingClaim("htu"))),
        (#""iat":1800000000,"#, "", .token(.missingClaim("iat"))),
        ("1800000000", #""1800000000""#, .token(.invalidClaim("iat"))),
        ("1800000000", "-1", .token(.invalidClaim("iat"))),
        ("1800000000", "1e300", .token(.invalidClaim("iat"))),
        ("1800000000", "null", .token(.invalidClaim("iat"))),
        (#""iat""#, #""iat":1800000000,"iat""#, .token(.malformed(.claims))),
        (#""ath":"#, #""other":"#, .wrongAccessTokenHash),
        (#""ath":""#, #""ath":"x"#, .wrongAccessTokenHash),
        (#""ath":"#, #""ath":1,"other":"#, .token(.invalidClaim("ath"))),
        (#""ath""#, #""nonce":1,"ath""#, .token(.invalidClaim("nonce"))),
    ])
    func `a proof with an invalid claim is refused`(part: String, forged: String, expected: DPoPProofRefusal) throws {
        #expect(try prover.verify(prover.proof(changing: part, to: forged)).refusal == expected)
    }

    // RFC 9449 §4.3 check 11: the hash is that of the token in the request.
    @Test func `a proof for another access token is refused`() throws {
        let other = DPoPProofClaims.hash(of: try #require(AccessToken("another")))
        let proof = try prover.proof(changing: DPoPProofClaims.hash(of: prover.token), to: other)
        #expect(try prover.verify(proof).refusal == .wrongAccessTokenHash)
    }

    // The replay memory must not depend on texts of any length.
    @Test(arguments: [(256, nil), (257, DPoPProofRefusal.longProofID)])
    func `jti may have up to 256 bytes`(length: Int, expected: DPoPProofRefusal?) throws {
        let proof = try prover.proof(changing: "-BwC3ESc6acc2lTc", to: String(repeating: "x", count: length))
        #expect(try prover.verify(proof).refusal == expected)
    }

    // The window is 300 seconds in either direction.
    @Test(arguments: [
        (1, true), (10, true), (-10, true), (299, true), (-299, true), (301, false), (-301, false), (600, false),
        (-600, false), (3600, false), (-3600, false),
    ])
    func `iat may differ from the time of the server by 300 seconds`(offset: Int, isAccepted: Bool) throws {
        let proof = try prover.proof(changing: "1800000000", to: "\(1_800_000_000 + offset)")
        #expect(try prover.verify(proof).refusal == (isAccepted ? nil : .notCurrent))
    }

    // RFC 9449 §4.2: unknown claims are ignored, also those of drafts, such as content_digest.
    @Test(arguments: [#""content_digest":"sha-256=:abc:""#, #""content_digest":17"#, #""aud":["x"],"exp":1,"iss":{}"#])
    func `unknown claims are ignored`(claims: String) throws {
        #expect(try prover.verify(prover.proof(changing: #""ath""#, to: #"\#(claims),"ath""#)).refusal == nil)
    }

    // RFC 9449 §4.3 check 9, RFC 3986 §6.2.2 and §6.2.3.
    @Test(arguments: [
        "https://api.example.com/photos?page=2", "https://api.example.com/photos#top",
        "https://api.example.com/photos?#", "https://api.example.com/photos/", "HTTPS://API.Example.COM/photos",
        "https://api.example.com:443/photos", "https://api.example.com/%70hotos",
    ])
    func `htu of the same resource is accepted`(url: String) throws {
        #expect(try prover.verify(prover.proof(changing: Prover.url, to: url)).refusal == nil)
        #expect(try prover.verify(prover.proof(), url: url).refusal == nil)
    }

    // RFC 9449 §4.3 check 9.
    @Test(arguments: [
        "https://other.example.com/photos", "https://api.example.com:8443/photos", "https://api.example.com/albums",
        "http://api.example.com/photos", "https://api.example.com/Photos", "https://api.example.com/photos/1",
        "https://api.example.com/photos//", "https://api.example.com/x/../photos", "https://api.example.com",
        "https://anna@api.example.com/photos", "https://api.example.com.evil.example/photos", "/photos", "photos",
        "urn:photos", "https://", "ftp://api.example.com/photos", "https://api.example.com:0443/photos", " ",
        "https://api.example.com/photos ", "https://api.example.com%2Fphotos",
    ])
    func `htu of another resource is refused`(url: String) throws {
        #expect(try prover.verify(prover.proof(changing: Prover.url, to: url)).refusal == .wrongURI)
    }

    // The root of an API, with and without its slash.
    @Test(arguments: ["https://api.example.com", "https://api.example.com/", "https://api.example.com/?a=b"])
    func `an empty path is the same as a slash`(url: String) throws {
        let proof = try prover.proof(changing: Prover.url, to: url)
        #expect(try prover.verify(proof, url: "https://api.example.com").refusal == nil)
        #expect(try prover.verify(proof, url: "https://api.example.com/").refusal == nil)
    }

    // At a token endpoint there is no access token, and ath means nothing.
    @Test func `a request without an access token needs no ath`() throws {
        let verifier = DPoPProofVerifier(nonces: nil, requiresNonce: false)
        let uri = try #require(ProofURI(Prover.url))
        for proof in [try prover.proof(), try prover.proof(changing: #""ath":"#, to: #""other":"#)] {
            #expect(try verifier.verify([proof], method: "GET", uris: [uri], at: Authority.now) != nil)
        }
    }
}
