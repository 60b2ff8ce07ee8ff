import CounterfoilProtocol
import TestSupport
import Testing

struct AuthorizationResponseTests {
    // Code, state and iss are in the query, unchanged.
    @Test(arguments: SeededGenerator.seeds)
    func `any response is unchanged after encoding and parsing its URL`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let issuer = try Issuer("https://id.example.com/tenant1")
        for _ in 0..<SeededGenerator.rounds {
            let outcome: AuthorizationResponse.Outcome
            if Bool.random(using: &random) {
                outcome = .code(AuthorizationCode(random.text(1...60, of: Alphabet.visible)) ?? AuthorizationCode())
            } else {
                outcome = .error(OAuthError(.accessDenied, random.maybe { $0.text(1...40, of: Alphabet.scope) }))
            }
            let response = AuthorizationResponse(
                outcome, state: random.maybe { OAuthState($0.anyText(0...60)) }, issuer: issuer)
            let uri = try RedirectURI(random.pick(["https://app.example/cb?foo=bar", "com.example.app:/cb"]) ?? "")
            let url = response.url(to: uri)
            let query = try #require(url.firstIndex(of: "?"))
            let form = try FormParameters(parsing: String(url[url.index(after: query)...]))
            #expect(Self.isSame(try AuthorizationResponse(parsing: form), response))
            #expect(url.hasPrefix(uri.rawValue))
        }
    }

    @Test func `the URL is the redirect URI with code, state and iss`() throws {
        let response = AuthorizationResponse(
            .code(try #require(AuthorizationCode("SplxlOBeZQQYbYS6WxSbIA"))), state: OAuthState("x y"),
            issuer: try Issuer("https://id.example.com")
        )
        let tail = "code=SplxlOBeZQQYbYS6WxSbIA&state=x%20y&iss=https%3A%2F%2Fid.example.com"
        #expect(response.url(to: try RedirectURI("https://app.example/cb")) == "https://app.example/cb?" + tail)
        #expect(
            response.url(to: try RedirectURI("https://app.example/cb?foo=bar")) == "https://app.example/cb?foo=bar&"
                + tail)
    }

    // A callback with a repeated parameter is rejected.
    @Test(arguments: [
        ("", AuthorizationResponse.Refusal.empty), ("state=x", .empty), ("code=", .empty),
        ("code=a&error=access_denied", .contradictory), ("code=a&code=a", .parameters(.repeated("code"))),
        ("code=a&state=x&state=x", .parameters(.repeated("state"))),
        ("code=a&iss=x&iss=y", .parameters(.repeated("iss"))),
        ("error=a%00b", .malformed("error")), ("code=a%0Ab", .malformed("code")), ("error=%C3%A9", .malformed("error")),
    ])
    func `a URL that is not a response is refused`(query: String, refusal: AuthorizationResponse.Refusal) throws {
        let form = try FormParameters(parsing: query)
        #expect(throws: refusal) { try AuthorizationResponse(parsing: form) }
    }

    // The reason of an error is for the log only and is never sent.
    @Test func `the reason of an error is not sent`() throws {
        let error = OAuthError(.serverError, "try again", reason: "the disk is full")
        let response = AuthorizationResponse(.error(error), state: nil, issuer: try Issuer("https://id.example.com"))
        #expect(!response.parameters.encoded.contains("disk"))
    }

    // RFC 6749 §4.1.2.1: the alphabet of error_description.
    @Test func `a description contains only allowed characters`() throws {
        let description = try #require(OAuthError(.invalidRequest, "say \"no\" \\ é\r\n").description)
        #expect(description.utf8.allSatisfy { (0x20...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C })
    }

    private static func isSame(_ left: AuthorizationResponse, _ right: AuthorizationResponse) -> Bool {
        guard left.state == right.state, left.issuer == right.issuer else { return false }
        switch (left.outcome, right.outcome) {
        case (.code(let left), .code(let right)): return left == right
        case (.error(let left), .error(let right)):
            return left.code == right.code && left.description == right.description
        case (.code, .error), (.error, .code): return false
        }
    }
}
