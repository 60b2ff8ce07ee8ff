import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilTokens
import Crypto
import Foundation
import Testing

/// A test authorization server, reduced to its tokens: an issuer with a key, an API and a client.
struct Authority {
    /// The current time in every test.
    static let now = Date(timeIntervalSince1970: 1_800_000_000)
    static let audience = "https://api.example.com"
    static let subject = "7f3c1b2a-5d6e-4f70-8192-a3b4c5d6e7f8"

    let key: SigningKey
    let issuer: Issuer
    let clientID: ClientIdentifier
    let nonce: Nonce

    init(_ algorithm: SigningAlgorithm = .es256) throws {
        key = try SigningKey.generate(algorithm)
        issuer = try Issuer("https://id.example.com")
        clientID = try #require(ClientIdentifier("lightbox"))
        nonce = try #require(Nonce("n-0S6_WzA2Mj"))
    }

    var keys: JSONWebKeySet { JSONWebKeySet(keys: [key.publicKey]) }
    var accessTokens: AccessTokenVerifier { AccessTokenVerifier(issuer: issuer, audience: Self.audience) }
    var idTokens: IDTokenVerifier { IDTokenVerifier(issuer: issuer, clientID: clientID) }

    func accessTokenClaims() throws -> AccessTokenClaims {
        AccessTokenClaims(
            issuer: issuer, subject: Self.subject, audience: [Self.audience], clientID: clientID,
            expires: Self.now.addingTimeInterval(3600), issuedAt: Self.now, tokenID: "kPrK_qmxVWaYVA9w",
            scope: try Scope(parsing: "openid photos.read"), authTime: Self.now.addingTimeInterval(-60),
            grantID: "grant-1"
        )
    }

    func idTokenClaims() -> IDTokenClaims {
        IDTokenClaims(
            issuer: issuer, subject: Self.subject, audience: [clientID.rawValue],
            expires: Self.now.addingTimeInterval(600), issuedAt: Self.now, nonce: nonce
        )
    }

    func verifyAccessToken(_ token: String) -> Result<VerifiedAccessToken, TokenRefusal> {
        Result { () throws(TokenRefusal) in try accessTokens.verify(token, keys: keys, at: Self.now) }
    }

    /// Verifies an ID token with the given expectations; the defaults are those of a plain sign-in.
    func verifyIDToken(
        _ token: String, by verifier: IDTokenVerifier? = nil, maxAge: TimeInterval? = nil, contexts: Set<String>? = nil,
        accessToken: AccessToken? = nil
    ) throws -> Result<VerifiedIDToken, TokenRefusal> {
        let token = try #require(IDToken(token))
        let request = IDTokenVerifier.Request(nonce: nonce, maxAge: maxAge, authenticationContexts: contexts)
        return Result { () throws(TokenRefusal) in
            try (verifier ?? idTokens)
                .verify(token, keys: keys, request: request, accessToken: accessToken, at: Self.now)
        }
    }

    /// The header of a valid access token.
    var header: String { #"{"alg":"ES256","typ":"at+jwt","kid":"\#(key.id)"}"# }

    /// The claims of a valid access token, as JSON text that a test can change.
    var claims: String {
        """
        {"iss":"https://id.example.com","sub":"\(Self.subject)","aud":"https://api.example.com","client_id":"lightbox",\
        "exp":1800003600,"iat":1800000000,"jti":"kPrK_qmxVWaYVA9w","scope":"photos.read"}
        """
    }

    /// Signs any header and any claims with the P-256 key of the authority.
    func forge(header: String? = nil, claims: String? = nil) throws -> String {
        let input = Self.unsigned(header: header ?? self.header, claims: claims ?? self.claims)
        let secret = try P256.Signing.PrivateKey(rawRepresentation: key.privateRepresentation)
        return input + "." + Base64URL.encode(try secret.signature(for: Data(input.utf8)).rawRepresentation)
    }

    /// Encodes a header and claims without a signature.
    static func unsigned(header: String, claims: String) -> String {
        Base64URL.encode(header.utf8) + "." + Base64URL.encode(claims.utf8)
    }
}

extension Result {
    /// The refusal; nil for a success.
    var refusal: Failure? {
        switch self {
        case .success: nil
        case .failure(let failure): failure
        }
    }
}
