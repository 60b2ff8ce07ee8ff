@_spi(Counterfoil) import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilTokens
import Crypto
import Foundation
import HTTPTypes
import Testing

/// A client with a key, which sends requests with bound tokens and proofs to an API (RFC 9449 §7.1).
struct Prover: Sendable {
    static let url = "https://photos.example/photos"

    let key: SigningKey

    init() throws { key = try SigningKey.generate(.es256) }

    var thumbprint: KeyThumbprint {
        get throws { try #require(KeyThumbprint(key.publicKey.thumbprint)) }
    }

    /// Creates a proof for a request with a token, with a `jti` of its own unless `id` is given.
    func proof(
        for token: AccessToken, method: String = "GET", url: String = url, nonce: String? = nil, id: String? = nil,
        at time: Date = Authority.now
    ) throws -> String {
        try key.sign(
            DPoPProofClaims(
                proofID: id ?? Base64URL.encode(RandomBytes().bytes(16)), method: method, uri: url, issuedAt: time,
                accessToken: token, nonce: nonce))
    }

    /// Returns the public key as a JSON Web Key, after other members.
    func jwk(with members: String = "") throws -> String {
        let point = try P256.Signing.PrivateKey(rawRepresentation: key.privateRepresentation).publicKey
            .rawRepresentation
        return
            #"{\#(members)"kty":"EC","crv":"P-256","x":"\#(Base64URL.encode(point.prefix(32)))","y":"\#(Base64URL.encode(point.suffix(32)))"}"#
    }

    /// Signs any header and any claims, as no correct client does; `JWK` stands for the public key.
    func forge(header: String, claims: String) throws -> String {
        try Forgery(header: header.replacing("JWK", with: try jwk()), claims: claims).signed(by: key)
    }

    /// Creates a request with a bound token and a proof.
    func request(
        _ token: AccessToken, path: String = "/photos", nonce: String? = nil, id: String? = nil,
        at time: Date = Authority.now
    ) throws -> HTTPRequest {
        .get(path, dpop: token, proofs: [try proof(for: token, nonce: nonce, id: id, at: time)])
    }
}

extension HTTPRequest {
    /// Creates a request with the scheme DPoP and any number of proofs.
    static func get(_ path: String = "/photos", dpop token: AccessToken, proofs: [String]) -> HTTPRequest {
        var request = get(path, authorization: "DPoP \(token.exposed)")
        if let name = HTTPField.Name("DPoP") { request.headerFields[values: name] = proofs }
        return request
    }
}

extension HTTPFields {
    /// The values of `DPoP-Nonce`.
    var proofNonces: [String] { HTTPField.Name("DPoP-Nonce").map { self[values: $0] } ?? [] }
}
