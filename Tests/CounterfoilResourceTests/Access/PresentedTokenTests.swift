import CounterfoilProtocol
import CounterfoilResource
import HTTPTypes
import Testing

@Suite struct PresentedTokenTests {
    // RFC 6750 §2.1: the scheme Bearer is case-insensitive.
    @Test(arguments: [
        "Bearer a.b-c_d~e+f/g==", "bearer a.b-c_d~e+f/g==", "BEARER a.b-c_d~e+f/g==", "Bearer   a.b-c_d~e+f/g==",
    ])
    func `the scheme matches in any case`(field: String) throws {
        let token = try #require(AccessToken("a.b-c_d~e+f/g=="))
        #expect(try PresentedToken(in: .get(authorization: field)) == .bearer(token))
    }

    // RFC 9449 §7.1: the scheme DPoP is case-insensitive too.
    @Test(arguments: ["DPoP a.b", "dpop a.b", "DPOP a.b", "DPoP  a.b"])
    func `the scheme DPoP matches in any case`(field: String) throws {
        let token = try #require(AccessToken("a.b"))
        #expect(try PresentedToken(in: .get(authorization: field)) == .dpop(token))
    }

    // RFC 6750 §2.1.
    @Test(arguments: [
        "Bearer", "Bearer\tabc", "Bearer \tabc", "Bearer abc def", "Bearer abc, Bearer def", "Bearer abc,def",
        "Bearer \"abc\"", "Bearer ==", "Bearer a=b", "Bearer abc\u{E9}", "Bearer=abc", "DPoP", "DPoP ",
        "DPoP abc def", "DPoP abc, Bearer def",
    ])
    func `a malformed header is refused`(field: String) {
        #expect(throws: PresentedToken.Refusal.malformed) {
            try PresentedToken(in: .get(authorization: field))
        }
    }

    // RFC 6750 §3.1: an unsupported scheme counts as no token.
    @Test(arguments: ["Basic YW5uYTpzZWNyZXQ=", "DPoPabc", "Bearerabc", "Digest a=b, c=d", ""])
    func `another scheme counts as no token`(field: String) throws {
        #expect(try PresentedToken(in: .get(authorization: field)) == .absent)
    }

    // RFC 9110 §5.3.
    @Test(arguments: ["Bearer abc", "Basic abc"])
    func `two headers are refused even if they are equal`(second: String) {
        #expect(throws: PresentedToken.Refusal.repeatedField) {
            try PresentedToken(in: .get(authorization: "Bearer abc", second))
        }
    }

    // A token in the query counts as absent.
    @Test func `a token in the query is ignored`() throws {
        #expect(try PresentedToken(in: .get("/photos?access_token=abc")) == .absent)
    }

    // RFC 6750 §2 and §2.2.
    @Test func `a token in a form is not accepted and is refused beside one in the header`() throws {
        var request = HTTPRequest.get(authorization: "Bearer abc")
        request.method = .post
        request.headerFields[.contentType] = "Application/X-WWW-Form-URLEncoded; charset=utf-8"
        #expect(throws: PresentedToken.Refusal.twoMethods) {
            try PresentedToken(in: request, body: Array("title=x&access%5Ftoken=def".utf8))
        }
        #expect(throws: PresentedToken.Refusal.malformedForm) {
            try PresentedToken(in: request, body: Array("title=%zz".utf8))
        }
        let token = try #require(AccessToken("abc"))
        #expect(try PresentedToken(in: request, body: Array("title=x".utf8)) == .bearer(token))

        request.headerFields[.authorization] = "DPoP abc"
        #expect(throws: PresentedToken.Refusal.twoMethods) {
            try PresentedToken(in: request, body: Array("access_token=def".utf8))
        }

        request.headerFields[.authorization] = nil
        #expect(try PresentedToken(in: request, body: Array("access_token=def".utf8)) == .absent)

        request.headerFields[.authorization] = "Bearer abc"
        request.headerFields[.contentType] = "application/json"
        #expect(try PresentedToken(in: request, body: Array("access_token=def".utf8)) == .bearer(token))
    }
}
