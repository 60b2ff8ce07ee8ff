@_spi(Counterfoil) import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import Testing

/// The request by which a server has the page of its owner sign a user in.
struct SignInRequestTests {
    private static let page = "https://shop.example.com/login"
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)

    private static func claims() throws -> SignInRequestClaims {
        var claims = SignInRequestClaims(
            issuer: try Issuer("https://id.example.com"), audience: page, requestID: "request-1", issuedAt: now,
            expires: now + 300, responseURI: "https://id.example.com/sign-in/external")
        claims.clientID = ClientIdentifier("app_lightbox")
        claims.clientName = "Lightbox \"é\""
        claims.loginHint = "ada"
        claims.maxAge = 600
        claims.contexts = ["urn:counterfoil:acr:two-factor", "urn:counterfoil:acr:passkey"]
        claims.languages = ["nb", "en"]
        return claims
    }

    private static func verifier(_ issuer: String = "https://id.example.com", page: String = page) throws
        -> SignInRequestVerifier
    {
        SignInRequestVerifier(issuer: try Issuer(issuer), page: page)
    }

    @Test(arguments: [SigningAlgorithm.es256, .edDSA])
    func `a page reads the request that a server signs`(algorithm: SigningAlgorithm) throws {
        let key = try SigningKey.generate(algorithm)
        let text = try key.sign(try Self.claims())
        let keys = JSONWebKeySet(keys: [key.publicKey])
        let request = try Self.verifier().verify(text, keys: keys, at: Self.now)
        #expect(request.requestID == "request-1" && request.issuedAt == Self.now)
        #expect(request.responseURI == "https://id.example.com/sign-in/external")
        #expect(request.clientID?.rawValue == "app_lightbox" && request.clientName == "Lightbox \"é\"")
        #expect(request.loginHint == "ada" && request.maxAge == 600 && request.prompt.isEmpty)
        #expect(request.contexts.count == 2 && request.languages == ["nb", "en"])
        #expect(request.accepts(signInAt: Self.now - 600))
        #expect(!request.accepts(signInAt: Self.now - 601))
    }

    @Test func `a request with prompt=login accepts no earlier sign-in`() throws {
        let key = try SigningKey.generate(.es256)
        var claims = try Self.claims()
        claims.prompt = ["login"]
        claims.maxAge = nil
        let keys = JSONWebKeySet(keys: [key.publicKey])
        let request = try Self.verifier().verify(try key.sign(claims), keys: keys, at: Self.now)
        #expect(!request.accepts(signInAt: Self.now - 1))
        #expect(request.accepts(signInAt: Self.now))
    }

    @Test func `a page refuses a request of another server, for another page, of another type or time`() throws {
        let (key, other) = (try SigningKey.generate(.es256), try SigningKey.generate(.es256))
        let keys = JSONWebKeySet(keys: [key.publicKey])
        let text = try key.sign(try Self.claims())
        func refusal(
            _ text: String, by verifier: SignInRequestVerifier, after seconds: TimeInterval = 0
        ) -> TokenRefusal? {
            do throws(TokenRefusal) {
                _ = try verifier.verify(text, keys: keys, at: Self.now + seconds)
                return nil
            } catch { return error }
        }
        let verifier = try Self.verifier()
        #expect(refusal(text, by: try Self.verifier("https://evil.example")) == .wrongIssuer)
        #expect(refusal(text, by: try Self.verifier(page: "https://other.example/login")) == .wrongAudience)
        #expect(refusal(text, by: verifier, after: 360) == .expired)
        #expect(refusal(text, by: verifier, after: -61) == .notYetValid)
        let foreign = try other.sign(try Self.claims())
        #expect(refusal(foreign, by: verifier) == .unknownKey(other.id))
        let response = try key.sign(["iss": "https://id.example.com"], type: .signInResponse)
        #expect(refusal(response, by: verifier) == .wrongType)
    }
}
