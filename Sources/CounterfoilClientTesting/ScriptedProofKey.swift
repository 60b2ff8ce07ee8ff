@_spi(Counterfoil) import CounterfoilProtocol
import Crypto
public import Foundation

/// A P-256 key that creates DPoP proofs, valid or with any defect (RFC 9449 §4.2).
///
/// The implementation is independent of the DPoP code of the client, so a test can compare the results of the two.
public struct ScriptedProofKey: Sendable {
    private let key = P256.Signing.PrivateKey()

    /// Generates a random key pair.
    public init() {}

    /// The SHA-256 thumbprint of the public key (`jkt`, RFC 7638 §3).
    public var thumbprint: String {
        let point = key.publicKey.rawRepresentation
        let text =
            "{\"crv\":\"P-256\",\"kty\":\"EC\",\"x\":\"\(Base64URL.encode(point.prefix(32)))\","
            + "\"y\":\"\(Base64URL.encode(point.suffix(32)))\"}"
        return Base64URL.encode(Array(SHA256.hash(data: Array(text.utf8))))
    }

    /// Creates a proof for one request: the value of its `DPoP` header field.
    ///
    /// If `accessToken` is given, the proof contains its hash as `ath`. The claims in `replaced` replace the valid
    /// claims of the same name, and the claims named in `omitted` are omitted.
    public func proof(
        method: String, url: String, nonce: String? = nil, accessToken: String? = nil, at time: Date = Date(),
        replacing replaced: [WireMember] = [], omitting omitted: [String] = []
    ) throws -> String {
        let point = key.publicKey.rawRepresentation
        let header: WireValue = [
            "typ": "dpop+jwt", "alg": "ES256",
            "jwk": [
                "kty": "EC", "crv": "P-256", "x": .text(Base64URL.encode(point.prefix(32))),
                "y": .text(Base64URL.encode(point.suffix(32))),
            ],
        ]
        var claims = [
            WireMember("jti", .text(Base64URL.encode(RandomBytes().bytes(16)))), WireMember("htm", .text(method)),
            WireMember("htu", .text(url)), WireMember("iat", .number(Int(time.timeIntervalSince1970))),
        ]
        claims.append("nonce", nonce.map { .text($0) })
        claims.append(
            "ath",
            accessToken.map { .text(Base64URL.encode(Array(SHA256.hash(data: Array($0.utf8))))) })
        let body = WireValue.object(claims.changed(replacing: replaced, omitting: omitted)).written
        let input = "\(Base64URL.encode(Array(header.written.utf8))).\(Base64URL.encode(Array(body.utf8)))"
        let signature = try key.signature(for: Array(input.utf8)).rawRepresentation
        return "\(input).\(Base64URL.encode(signature))"
    }
}
