import CounterfoilProtocol
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import Testing

@testable import CounterfoilServer

struct KnownAccessTokenTests {
    private let issuer: Issuer
    private let key: SigningKey
    private let token: AnyToken

    init() throws {
        issuer = try Issuer("https://id.example.com")
        key = try SigningKey.generate(.es256)
        let issuedAt = Date(timeIntervalSince1970: 1_800_000_000)
        token = AnyToken(
            try key.sign(
                AccessTokenClaims(
                    issuer: issuer, subject: "per_1", audience: ["https://api.example.com"],
                    clientID: try #require(ClientIdentifier("app_1")), expires: issuedAt.addingTimeInterval(3600),
                    issuedAt: issuedAt, tokenID: "1")))
    }

    // RFC 7662 §4: a cached verification holds for the same token and the same keys only.
    @Test func `a cached token is refused after its key was deleted`() throws {
        let known = VerifiedTokenCache(IssuedAccessTokenVerifier(issuer: issuer))
        let keys = JSONWebKeySet(keys: [key.publicKey])
        let first = try known.verify(token, keys: keys)
        #expect(try known.verify(token, keys: keys) == first)
        #expect(first.claims.subject == "per_1")
        #expect(throws: TokenRefusal.self) { try known.verify(token, keys: JSONWebKeySet()) }
        #expect(try known.verify(token, keys: keys) == first)
    }

    // RFC 7662 §4
    @Test func `a token that differs from a cached one in one character is verified`() throws {
        let known = VerifiedTokenCache(IssuedAccessTokenVerifier(issuer: issuer))
        let keys = JSONWebKeySet(keys: [key.publicKey])
        _ = try known.verify(token, keys: keys)
        let claims = token.exposed.split(separator: ".")[1]
        let other = token.exposed.replacing(claims, with: claims.dropLast(4) + "AAAA")
        #expect(throws: TokenRefusal.self) { try known.verify(AnyToken(other), keys: keys) }
    }
}
