/// The reason why a DPoP proof is rejected.
///
/// RFC 9449 §4.3. Every case is safe to log and to send, because no case contains the proof or the value of a claim.
@_spi(Counterfoil) public enum DPoPProofRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// The request has more than one `DPoP` field.
    case severalProofs
    /// The proof is not a signed token as RFC 9449 §4.2 requires.
    case token(TokenRefusal)
    /// The header contains no key (`jwk`).
    case keyMissing
    /// The key in the header cannot be used, for example because it is private or too short.
    case unusableKey(JSONWebKey.Refusal)
    /// `htm` is not the method of the request.
    case wrongMethod
    /// `htu` is not the URL of the request.
    case wrongURI
    /// `iat` is too far from the current time.
    case notCurrent
    /// `ath` is missing or is not the hash of the access token in the request.
    case wrongAccessTokenHash
    /// `jti` is longer than ``DPoPProofVerifier/proofIDByteLimit`` bytes.
    case longProofID
    /// The proof contains no nonce, but the server requires one.
    case nonceRequired
    /// The nonce is not one of this server, or has expired.
    case nonceInvalid
    /// The proof was used before (RFC 9449 §11.1).
    case used

    /// Whether a proof with the nonce of the response can succeed, so that the error is `use_dpop_nonce`.
    public var asksForNonce: Bool { self == .nonceRequired || self == .nonceInvalid }

    /// An explanation that names what is wrong and contains no part of the proof.
    public var description: String {
        switch self {
        case .severalProofs: "the request has more than one DPoP field"
        case .token(let refusal): "the DPoP proof is invalid: \(refusal)"
        case .keyMissing: "the header of the DPoP proof contains no public key (jwk)"
        case .unusableKey(let refusal): "the key of the DPoP proof cannot be used: \(refusal)"
        case .wrongMethod: "htm of the DPoP proof is not the method of this request"
        case .wrongURI: "htu of the DPoP proof is not the URL of this request"
        case .notCurrent:
            "iat of the DPoP proof is more than \(Int(DPoPProofVerifier.window)) seconds from the time of this server"
        case .wrongAccessTokenHash: "ath of the DPoP proof is not the hash of the access token"
        case .longProofID: "jti of the DPoP proof is longer than \(DPoPProofVerifier.proofIDByteLimit) bytes"
        case .nonceRequired: "the DPoP proof must contain the nonce of the field DPoP-Nonce"
        case .nonceInvalid: "the nonce of the DPoP proof has expired; use that of the field DPoP-Nonce"
        case .used: "the DPoP proof was used before; send a new one with another jti"
        }
    }
}
