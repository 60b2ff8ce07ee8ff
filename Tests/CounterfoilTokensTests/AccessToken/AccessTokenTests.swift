import CounterfoilProtocol
import CounterfoilTokens
import Foundation
import Testing

struct AccessTokenTests {
    // RFC 9068 §2.2: the verifier returns every claim unchanged.
    @Test(arguments: SigningAlgorithm.allCases)
    func `an access token contains its claims`(algorithm: SigningAlgorithm) throws {
        let authority = try Authority(algorithm)
        let claims = try authority.accessTokenClaims()
        let verified = try authority.verifyAccessToken(try authority.key.sign(claims)).get()

        #expect(verified.issuer == authority.issuer)
        #expect(verified.subject == Authority.subject)
        #expect(verified.clientID == authority.clientID)
        #expect(verified.scope.description == "openid photos.read")
        #expect(verified.audience == [Authority.audience])
        #expect(verified.expires == claims.expires)
        #expect(verified.issuedAt == Authority.now)
        #expect(verified.tokenID == claims.tokenID)
        #expect(verified.grantID == "grant-1")
        #expect(verified.authTime == claims.authTime)
    }

    // RFC 9068 §2.1 and §2.2: comparison of the whole wire form.
    @Test func `the header and the claims are those of the standard`() throws {
        let authority = try Authority()
        let token = try authority.key.sign(try authority.accessTokenClaims())
        let parts = try token.split(separator: ".").map {
            String(decoding: try #require(Base64URL.decode($0)), as: UTF8.self)
        }
        #expect(parts.first == authority.header)
        #expect(
            parts.dropFirst().first == """
                {"iss":"https://id.example.com","sub":"\(Authority.subject)","aud":"https://api.example.com",\
                "client_id":"lightbox","exp":1800003600,"iat":1800000000,"jti":"kPrK_qmxVWaYVA9w",\
                "scope":"openid photos.read","auth_time":1799999940,"grant_id":"grant-1"}
                """
        )
    }

    // RFC 7519 §4.1.3: a single audience is a string, several are an array, and both are accepted.
    @Test func `several audiences are a list`() throws {
        let authority = try Authority()
        var claims = try authority.accessTokenClaims()
        claims.audience = ["https://other.example.com", Authority.audience]
        let token = try authority.key.sign(claims)
        #expect(try authority.verifyAccessToken(token).get().audience == claims.audience)
        let list = authority.claims.replacing(
            #""aud":"https://api.example.com""#, with: #""aud":["https://api.example.com"]"#)
        #expect(try authority.verifyAccessToken(authority.forge(claims: list)).get().audience == [Authority.audience])
    }

    @Test func `optional claims may be absent`() throws {
        let authority = try Authority()
        var claims = try authority.accessTokenClaims()
        claims.scope = Scope()
        claims.authTime = nil
        claims.grantID = nil
        let verified = try authority.verifyAccessToken(try authority.key.sign(claims)).get()
        #expect(verified.scope.isEmpty)
        #expect(verified.authTime == nil)
        #expect(verified.grantID == nil)
    }

    // RFC 9068 §2.2.3.1
    @Test func `an API reads groups and attributes of a user`() throws {
        let authority = try Authority()
        var claims = try authority.accessTokenClaims()
        claims.user = UserClaims([
            "groups": .texts(["staff", "a\"b"]), "department": .text("Sales"), "floor": .integer(-3),
        ])
        let token = try authority.key.sign(claims)
        let verified = try authority.verifyAccessToken(token).get()
        #expect(verified.texts(of: "groups") == ["staff", "a\"b"] && verified.text(of: "department") == "Sales")
        // A claim of another type, and one that has a property, is not returned.
        for name in ["floor", "sub", "aud", "nothing"] {
            #expect(verified.text(of: name) == nil && verified.texts(of: name) == nil)
        }
        let mixed = authority.claims.replacing(#""aud""#, with: #""groups":["staff",1],"aud""#)
        #expect(try authority.verifyAccessToken(authority.forge(claims: mixed)).get().texts(of: "groups") == nil)
    }

    // RFC 8259 §7: the content of a claim is escaped and never parsed as JSON syntax.
    @Test(arguments: [
        #"a"b"#, #"a\b"#, "a\u{0}b", "a\nb\u{1F}", "日本語", "🦊", #"","admin":true,"x":""#, "\u{2028}", "\u{7F}",
    ])
    func `a subject with any characters is unchanged`(subject: String) throws {
        let authority = try Authority()
        var claims = try authority.accessTokenClaims()
        claims.subject = subject
        #expect(try authority.verifyAccessToken(authority.key.sign(claims)).get().subject == subject)
    }

    // Signing rejects an empty required claim.
    @Test func `invalid claims are not signed`() throws {
        let authority = try Authority()
        let changes: [(String, (inout AccessTokenClaims) -> Void)] = [
            ("sub", { $0.subject = "" }),
            ("aud", { $0.audience = [] }),
            ("aud", { $0.audience = [""] }),
            ("jti", { $0.tokenID = "" }),
            ("exp", { $0.expires = Date(timeIntervalSince1970: .infinity) }),
            ("iat", { $0.issuedAt = Date(timeIntervalSince1970: -1) }),
            ("auth_time", { $0.authTime = Date(timeIntervalSince1970: .nan) }),
        ]
        for (name, change) in changes {
            var claims = try authority.accessTokenClaims()
            change(&claims)
            #expect(throws: SigningKey.Failure.unusableClaim(name)) { try authority.key.sign(claims) }
        }
    }

    @Test func `claims of another kind can be signed too`() throws {
        struct LogoutClaims: Encodable { let iss: String }
        let authority = try Authority()
        let token = try authority.key.sign(
            LogoutClaims(iss: "https://id.example.com"), type: TokenType(rawValue: "logout+jwt")
        )
        #expect(authority.verifyAccessToken(token).refusal == .wrongType)
    }
}
