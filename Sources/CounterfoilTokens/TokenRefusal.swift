/// The reason why a token is rejected.
///
/// Every case is safe to log, because none contains the token or the value of a claim.
public enum TokenRefusal: Error, Hashable, Sendable {
    /// The parts of a token that can be malformed.
    public enum Part: String, Hashable, Sendable {
        /// The token is not three parts of base64url.
        case serialization
        /// The header is not a JSON object with distinct members of the right types.
        case header
        /// The claims are not a JSON object with distinct members.
        case claims
    }

    /// The token is longer than the verifier accepts.
    case tooLarge
    /// The token is not a compact JWS (RFC 7515 §7.1).
    case malformed(Part)
    /// `typ` is that of another kind of token (RFC 8725 §3.11).
    case wrongType
    /// `alg` is missing or not in the allowlist (RFC 8725 §3.1).
    case algorithmNotAllowed
    /// The header contains a parameter that would select the rules or the key: `crit`, `jku`, `jwk`, `x5u` or `x5c`.
    case headerNotAllowed(String)
    /// The key set contains no key with this `kid` and algorithm; fetching the set again may help.
    case unknownKey(KeyIdentifier?)
    /// The signature is not valid for any key that the header may refer to.
    case badSignature
    /// A required claim is missing; the associated value is its name.
    case missingClaim(String)
    /// A claim has the wrong JSON type or form; the associated value is its name.
    case invalidClaim(String)
    /// `iss` is another issuer.
    case wrongIssuer
    /// `aud` does not contain the verifier, or contains an audience that it does not trust.
    case wrongAudience
    /// `azp` is another client, or is missing although there are several audiences.
    case wrongAuthorizedParty
    /// `cnf` binds the token to a key, and a bearer token proves possession of none (RFC 9449 §7.2).
    case boundToKey
    /// `exp` has passed.
    case expired
    /// `exp` is too far in the future: the use of an assertion is stored for `limit` seconds only (RFC 7523 §3).
    case lastsTooLong(limit: Int)
    /// `iat`, `nbf` or `auth_time` is in the future.
    case notYetValid
    /// `nonce` is not that of the request.
    case wrongNonce
    /// `at_hash` does not match the access token.
    case wrongAccessTokenHash
    /// The user signed in longer ago than `max_age` allows.
    case authenticationTooOld
    /// `acr` is not one of the required authentication contexts.
    case wrongAuthenticationContext
}

extension TokenRefusal: CustomStringConvertible {
    /// An explanation that is safe to log.
    public var description: String {
        switch self {
        case .tooLarge: "the token is too large"
        case .malformed(let part): "the \(part.rawValue) of the token is malformed"
        case .wrongType: "the token has the wrong type (typ)"
        case .algorithmNotAllowed: "the algorithm of the token is not allowed"
        case .headerNotAllowed(let name): "the header parameter \(name) is not allowed"
        case .unknownKey(let kid?): "the key set has no key \(kid) for the token's algorithm"
        case .unknownKey(nil): "the token has no kid, and no single key matches"
        case .badSignature: "the signature is invalid"
        case .missingClaim(let name): "the claim \(name) is missing"
        case .invalidClaim(let name): "the claim \(name) is malformed"
        case .wrongIssuer: "the token was issued by another issuer"
        case .wrongAudience: "the token is for another audience"
        case .wrongAuthorizedParty: "the token was issued to another client"
        case .boundToKey: "the token is bound to a key, but the request proves possession of none"
        case .expired: "the token has expired"
        case .lastsTooLong(let limit): "the claim exp is more than \(limit) seconds in the future"
        case .notYetValid: "the token is not yet valid (iat, nbf or auth_time)"
        case .wrongNonce: "the nonce does not match that of the request"
        case .wrongAccessTokenHash: "the claim at_hash does not match the access token"
        case .authenticationTooOld: "the user signed in too long ago"
        case .wrongAuthenticationContext: "the authentication context (acr) is not one of the required ones"
        }
    }
}
