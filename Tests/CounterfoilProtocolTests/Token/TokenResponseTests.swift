@_spi(Counterfoil) import CounterfoilProtocol
import Foundation
import TestSupport
import Testing

struct TokenResponseTests {
    @Test(arguments: SeededGenerator.seeds)
    func `any response is unchanged after encoding and parsing`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<SeededGenerator.rounds {
            let response = TokenResponse(
                accessToken: try #require(AccessToken(random.text(1...200, of: Alphabet.scope + "\"\\"))),
                expiresIn: random.maybe { Int.random(in: 0...315_360_000, using: &$0) },
                refreshToken: random.maybe { RefreshToken($0.text(1...80, of: Alphabet.visible)) },
                scope: random.maybe { random in
                    Scope((0...3).compactMap { _ in Scope.Token(random.text(1...9, of: Alphabet.scope)) })
                },
                idToken: random.maybe { IDToken($0.text(1...80, of: Alphabet.unreserved)) }
            )
            #expect(try TokenResponse(parsing: response.encoded()) == response)
        }
    }

    // Responses contain Bearer, and parsing ignores case.
    @Test(arguments: ["Bearer", "bearer", "BEARER", "bEaReR"])
    func `the type bearer matches in any case`(type: String) throws {
        let response = try TokenResponse(parsing: Array(#"{"access_token":"a","token_type":"\#(type)"}"#.utf8))
        #expect(response.isBearer)
        let made = TokenResponse(accessToken: try #require(AccessToken("a")), expiresIn: nil)
        #expect(made.tokenType == "Bearer")
        #expect(try !TokenResponse(parsing: Array(#"{"access_token":"a","token_type":"DPoP"}"#.utf8)).isBearer)
    }

    // The lifetime is a number of seconds; a string of digits is accepted too.
    @Test(arguments: [
        (#""expires_in":3600"#, Optional(3600)), (#""expires_in":"3600""#, 3600), (#""expires_in":null"#, nil),
        (#""x":1"#, nil),
    ])
    func `a lifetime is parsed`(member: String, seconds: Int?) throws {
        let body = Array(#"{"access_token":"a","token_type":"Bearer",\#(member)}"#.utf8)
        #expect(try TokenResponse(parsing: body).expiresIn == seconds)
    }

    @Test(arguments: [
        "", "[]", "null", "{}", #"{"token_type":"Bearer"}"#, #"{"access_token":"a"}"#,
        #"{"access_token":"","token_type":"Bearer"}"#, #"{"access_token":"a b","token_type":"Bearer"}"#,
        #"{"access_token":7,"token_type":"Bearer"}"#, #"{"access_token":"a","token_type":"Bearer","expires_in":-1}"#,
        #"{"access_token":"a","token_type":"Bearer","expires_in":1e300}"#,
        #"{"access_token":"a","token_type":"Bearer","expires_in":"soon"}"#,
        #"{"access_token":"a","token_type":"Bearer","scope":"a\tb"}"#,
    ])
    func `an invalid response is refused`(body: String) {
        #expect(throws: (any Error).self) { try TokenResponse(parsing: Array(body.utf8)) }
    }

    @Test func `a response of more than 256 KiB is refused without parsing`() {
        #expect(throws: DecodingError.self) {
            try TokenResponse(parsing: [UInt8](repeating: UInt8(ascii: " "), count: 256 * 1024 + 1))
        }
    }

    // The reason of an error is for the log only and is never sent.
    @Test func `an error contains its code and its description only`() throws {
        let refusal = OAuthError(.invalidGrant, "the code is unknown", reason: "code of another application")
        let body = String(decoding: try JSONEncoder().encode(TokenErrorResponse(refusal)), as: UTF8.self)
        #expect(body.contains(#""error":"invalid_grant""#))
        #expect(!body.contains("another"))
        #expect(TokenErrorResponse(refusal).refusal.code == .invalidGrant)
    }
}
