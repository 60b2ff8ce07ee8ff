import CounterfoilProtocol
import CounterfoilTokens
import Foundation
import Testing

struct IDTokenTests {
    // OpenID Connect Core §2.
    @Test(arguments: SigningAlgorithm.allCases)
    func `an ID token contains its claims`(algorithm: SigningAlgorithm) throws {
        let authority = try Authority(algorithm)
        let accessToken = try #require(AccessToken("SlAV32hkKG"))
        var claims = authority.idTokenClaims()
        claims.authTime = Authority.now.addingTimeInterval(-60)
        claims.authorizedParty = authority.clientID
        claims.authenticationContext = "urn:example:passkey"
        claims.authenticationMethods = ["pop", "mfa"]
        claims.accessTokenHash = IDTokenClaims.accessTokenHash(of: accessToken, algorithm: algorithm)
        let verified = try authority.verifyIDToken(
            authority.key.sign(claims), maxAge: 60, contexts: ["urn:example:passkey"], accessToken: accessToken
        ).get()

        #expect(verified.issuer == authority.issuer)
        #expect(verified.subject == Authority.subject)
        #expect(verified.audience == [authority.clientID.rawValue])
        #expect(verified.expires == claims.expires)
        #expect(verified.issuedAt == Authority.now)
        #expect(verified.authTime == claims.authTime)
        #expect(verified.nonce == authority.nonce)
        #expect(verified.authorizedParty == authority.clientID)
        #expect(verified.authenticationContext == "urn:example:passkey")
        #expect(verified.authenticationMethods == ["pop", "mfa"])
    }

    // Comparison of the whole wire form.
    @Test func `the claims are those of the standard`() throws {
        let authority = try Authority()
        let token = try authority.key.sign(authority.idTokenClaims())
        let parts = try token.split(separator: ".").map {
            String(decoding: try #require(Base64URL.decode($0)), as: UTF8.self)
        }
        #expect(parts.first == authority.header.replacing("at+jwt", with: "JWT"))
        #expect(
            parts.dropFirst().first == """
                {"iss":"https://id.example.com","sub":"\(Authority.subject)","aud":"lightbox","exp":1800000600,\
                "iat":1800000000,"nonce":"n-0S6_WzA2Mj"}
                """
        )
    }

    // OpenID Connect Core §A.3: the digest of the example in the standard.
    @Test func `the access token hash is that of the standard`() throws {
        let token = try #require(AccessToken("jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y"))
        #expect(IDTokenClaims.accessTokenHash(of: token, algorithm: .rs256) == "77QmUPtjPfzWtF2AnpK9RQ")
        #expect(IDTokenClaims.accessTokenHash(of: token, algorithm: .es256) == "77QmUPtjPfzWtF2AnpK9RQ")
    }

    // OpenID Connect Core §5.1: other claims of the provider are readable.
    @Test func `other claims can be read by name`() throws {
        let authority = try Authority()
        let token = try authority.forge(
            header: #"{"alg":"ES256","kid":"\#(authority.key.id)"}"#,
            claims: """
                {"iss":"https://id.example.com","sub":"ada","aud":["lightbox"],"exp":1800000600,"iat":1800000000,\
                "nonce":"n-0S6_WzA2Mj","email":"ada@example.com","email_verified":true}
                """
        )
        let verified = try authority.verifyIDToken(token).get()
        #expect(verified.text(of: "email") == "ada@example.com")
        #expect(verified.text(of: "email_verified") == nil)
        #expect(verified.text(of: "nonce") == nil)
        var dumped = "\(verified)"
        dump(verified, to: &dumped)
        #expect(!dumped.contains("n-0S6_WzA2Mj"))
    }

    // A subject identifier has 1 to 255 ASCII characters.
    @Test(arguments: ["", "é", String(repeating: "a", count: 256)])
    func `an invalid subject is not signed`(subject: String) throws {
        let authority = try Authority()
        var claims = authority.idTokenClaims()
        claims.subject = subject
        #expect(throws: SigningKey.Failure.unusableClaim("sub")) { try authority.key.sign(claims) }
    }
}
