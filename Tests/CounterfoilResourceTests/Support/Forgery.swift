import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilTokens
import Crypto
import Foundation

/// A forged or unusual token that no correct server issues.
struct Forgery {
    let header: String
    let claims: String

    /// Combines any header with the claims of a valid token.
    init(header: String, claimsOf honest: String) {
        self.header = header
        let part = honest.split(separator: ".")[1]
        claims = String(decoding: Base64URL.decode(part) ?? [], as: UTF8.self)
    }

    init(header: String, claims: String) {
        self.header = header
        self.claims = claims
    }

    /// The token without a signature.
    var unsigned: String { signedPart + "." }

    /// Signs the token with the real key of the issuer.
    func signed(by key: SigningKey) throws -> String {
        let key = try P256.Signing.PrivateKey(rawRepresentation: key.privateRepresentation)
        return signedPart + "." + Base64URL.encode(try key.signature(for: Data(signedPart.utf8)).rawRepresentation)
    }

    /// Authenticates the token with HMAC and a publicly known key.
    func authenticated(under secret: some ContiguousBytes) -> String {
        let code = HMAC<SHA256>.authenticationCode(for: Data(signedPart.utf8), using: SymmetricKey(data: secret))
        return signedPart + "." + Base64URL.encode(code)
    }

    private var signedPart: String { Base64URL.encode(header.utf8) + "." + Base64URL.encode(claims.utf8) }
}
