@_spi(Counterfoil) package import CounterfoilProtocol
package import CounterfoilServer
@_spi(Counterfoil) package import CounterfoilTokens
package import Foundation
package import HTTPTypes

/// A key with which a test client makes DPoP proofs (RFC 9449 §4.2).
package struct TestProofKey: Sendable {
    package let key: SigningKey

    package init(_ algorithm: SigningAlgorithm = .es256) throws { key = try SigningKey.generate(algorithm) }

    /// `jkt`: the thumbprint of the public key.
    package var thumbprint: String { key.publicKey.thumbprint }

    /// Returns a proof for a request, with a `jti` of its own unless `id` is given.
    package func proof(
        for method: HTTPRequest.Method = .post, _ uri: String, at time: Date, presenting token: AccessToken? = nil,
        nonce: String? = nil, id: String? = nil
    ) throws -> String {
        try key.sign(
            DPoPProofClaims(
                proofID: id ?? Base64URL.encode(RandomBytes().bytes(16)), method: method.rawValue, uri: uri,
                issuedAt: time, accessToken: token, nonce: nonce))
    }
}

extension TestServer {
    /// Returns the fields of a token request with a proof of a key.
    package func proving(
        _ key: TestProofKey, nonce: String? = nil, id: String? = nil, fields: HTTPFields = [:]
    ) throws -> HTTPFields {
        var fields = fields
        let proof = try key.proof(issuer.endpoint("/oauth2/token"), at: clock.wall, nonce: nonce, id: id)
        if let name = HTTPField.Name("DPoP") { fields[name] = proof }
        return fields
    }
}

extension Reply {
    /// The value of the field `DPoP-Nonce`; nil if the response contains none, or more than one.
    package var proofNonce: String? {
        let values = HTTPField.Name("DPoP-Nonce").map { fields[values: $0] } ?? []
        return values.count == 1 ? values[0] : nil
    }
}
