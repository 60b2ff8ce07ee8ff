@_spi(Counterfoil) import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilTokens
import Crypto
import Foundation
import JWTKit
import Testing

/// Interoperability with jwt-kit: each implementation verifies the tokens of the other.
struct JWTKitOracleTests {
    struct Payload: JWTPayload, Equatable {
        let iss: IssuerClaim
        let sub: SubjectClaim
        let aud: AudienceClaim
        let exp: ExpirationClaim
        let iat: IssuedAtClaim
        let jti: IDClaim
        let client_id: String
        let scope: String

        func verify(using algorithm: some JWTAlgorithm) throws {}
    }

    private func payload() -> Payload {
        Payload(
            iss: "https://id.example.com", sub: .init(value: Authority.subject),
            aud: .init(value: [Authority.audience]),
            exp: .init(value: Authority.now.addingTimeInterval(3600)), iat: .init(value: Authority.now),
            jti: "kPrK_qmxVWaYVA9w", client_id: "lightbox", scope: "openid photos.read"
        )
    }

    /// The algorithms that jwt-kit has, too; it does not know the newer name of EdDSA.
    private static let common: [SigningAlgorithm] = [.es256, .rs256, .edDSA]

    // Another implementation accepts our tokens with our published keys.
    @Test(arguments: common)
    func `jwt-kit verifies our signatures`(algorithm: SigningAlgorithm) async throws {
        let authority = try Authority(algorithm)
        let collection = JWTKeyCollection()
        try await collection.add(jwksJSON: String(decoding: authority.keys.encoded(), as: UTF8.self))
        let token = try authority.key.sign(try authority.accessTokenClaims())
        #expect(try await collection.verify(token, as: Payload.self) == payload())
    }

    @Test(arguments: common)
    func `we verify the signatures of jwt-kit`(algorithm: SigningAlgorithm) async throws {
        let authority = try Authority(algorithm)
        let collection = JWTKeyCollection()
        let secret = authority.key.privateRepresentation
        switch algorithm {
        case .es256:
            let key = try P256.Signing.PrivateKey(rawRepresentation: secret)
            await collection.add(ecdsa: try ES256PrivateKey(backing: key))
        case .edDSA:
            let key = try Curve25519.Signing.PrivateKey(rawRepresentation: secret)
            await collection.add(eddsa: EdDSA.PrivateKey(backing: key))
        default:
            let text = Data(secret).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
            let pem = "-----BEGIN RSA PRIVATE KEY-----\n\(text)\n-----END RSA PRIVATE KEY-----\n"
            await collection.add(rsa: try Insecure.RSA.PrivateKey(pem: pem), digestAlgorithm: .sha256)
        }
        let token = try await collection.sign(
            payload(), header: ["typ": "at+jwt", "kid": .string(authority.key.id.rawValue)]
        )
        let verified = try authority.verifyAccessToken(token).get()
        #expect(verified.subject == Authority.subject)
        #expect(verified.expires == Authority.now.addingTimeInterval(3600))
        #expect(verified.scope.description == "openid photos.read")
    }
}
