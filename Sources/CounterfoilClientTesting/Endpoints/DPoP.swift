@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilTokens
import Crypto
import Foundation
import HTTPTypes

/// The DPoP nonce of a scripted server (RFC 9449 §8).
struct MiniatureNonces: Sendable {
    /// The only nonce that the server accepts now.
    private(set) var current = Base64URL.encode(RandomBytes().bytes(12))

    mutating func change() { current = Base64URL.encode(RandomBytes().bytes(12)) }
}

/// The verification of DPoP proofs (RFC 9449).
extension MiniatureServer {
    /// The result of checking the DPoP proof of a request.
    enum Proof: Equatable {
        /// The request has no proof, or the script ignores proofs.
        case none
        /// A valid proof, signed by the key with this thumbprint.
        case valid(String)
        /// An invalid proof; the associated value is the error code for the response.
        case refused(String)
    }

    /// Checks the DPoP proof of a request (RFC 9449 §4.3).
    mutating func proof(
        of request: RecordedRequest, accessToken: String?, rule: DPoPScript.NonceRule, in vault: inout VaultContents,
        at now: Date
    ) -> Proof {
        guard !script.dpop.isIgnored else { return .none }
        let fields = HTTPField.Name("DPoP").map { request.headerFields[values: $0] } ?? []
        guard let text = fields.first else { return .none }
        guard fields.count == 1, !script.dpop.refusesEveryProof, let proof = DPoPProofReading(text),
            proof.header["typ"] == "dpop+jwt", proof.claims["htm"] == .text(request.method.rawValue),
            proof.claims["htu"] == .text(origin + request.path),
            case .number(let issuedAt)? = proof.claims["iat"],
            abs(Double(issuedAt) - now.timeIntervalSince1970) < 300,
            case .text(let identifier)? = proof.claims["jti"], vault.proofs[identifier] == nil
        else { return .refused("invalid_dpop_proof") }
        if let accessToken {
            let hash = Base64URL.encode(Array(SHA256.hash(data: Array(accessToken.utf8))))
            guard proof.claims["ath"] == .text(hash) else { return .refused("invalid_dpop_proof") }
        }
        if rule != .none, proof.claims["nonce"] != .text(nonces.current) { return .refused("use_dpop_nonce") }
        vault.proofs[identifier] = true
        return .valid(proof.thumbprint)
    }

    /// Adds the nonce for the next proof to a response (RFC 9449 §8.2), if the rule requires nonces.
    mutating func withNonce(_ answer: ScriptedAnswer, _ rule: DPoPScript.NonceRule) -> ScriptedAnswer {
        guard rule != .none else { return answer }
        if rule == .changing { nonces.change() }
        var answer = answer
        answer.headerFields.append(.init("DPoP-Nonce", nonces.current))
        return answer
    }
}

/// A DPoP proof whose signature is valid for the public key in its header (`jwk`).
private struct DPoPProofReading {
    let header: WireValue
    let claims: WireValue
    let thumbprint: String

    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, let header = Self.json(parts[0]), let claims = Self.json(parts[1]),
            let signature = Base64URL.decode(parts[2]), let jwk = header["jwk"],
            let data = try? JSONEncoder().encode(jwk), let key = try? JSONDecoder().decode(JSONWebKey.self, from: data),
            header["alg"] == .text(key.algorithm.rawValue),
            Self.isSigned("\(parts[0]).\(parts[1])", signature, by: jwk)
        else { return nil }
        self.header = header
        self.claims = claims
        thumbprint = key.thumbprint
    }

    private static func json(_ part: String) -> WireValue? {
        Base64URL.decode(part).flatMap { try? JSONDecoder().decode(WireValue.self, from: Data($0)) }
    }

    private static func isSigned(_ input: String, _ signature: [UInt8], by jwk: WireValue) -> Bool {
        func octets(_ name: String) -> [UInt8] {
            guard case .text(let text)? = jwk[name] else { return [] }
            return Base64URL.decode(text) ?? []
        }
        let bytes = Array(input.utf8)
        if let key = try? P256.Signing.PublicKey(rawRepresentation: octets("x") + octets("y")),
            let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature)
        {
            return key.isValidSignature(signature, for: bytes)
        }
        guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: octets("x")) else { return false }
        return key.isValidSignature(signature, for: bytes)
    }
}
