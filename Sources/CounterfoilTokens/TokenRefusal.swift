/// Why a token is not accepted.
///
/// Every case is safe to log: none holds the token or a claim's value.
public enum TokenRefusal: Error, Hashable, Sendable {
    /// The parts of a token that can be malformed.
    public enum Part: String, Hashable, Sendable {
        /// Not three parts of base64url.
        case serialization
        /// The header is not a JSON object with distinct members of the right types.
        case header
        /// The claims are not a JSON object with distinct members.
        case claims
    }

    /// Longer than the verifier reads.
    case tooLarge
    /// Not a compact JWS (RFC 7515 §7.1).
    case malformed(Part)
    /// The `typ` of the header belongs to another kind of token (RFC 8725 §3.11).
    case wrongType
    /// The `alg` of the header is missing or not in the allowlist (RFC 8725 §3.1).
    case algorithmNotAllowed
    /// The header holds a member that would choose the key or the rules: `crit`, `jku`, `jwk`, `x5u` or `x5c`.
    case headerNotAllowed(String)
    /// No key of this name and algorithm is in the set; fetching the set again may help.
    case unknownKey(KeyIdentifier?)
    /// The signature is not by the key that the header names.
    case badSignature
    /// A required claim is missing.
    case missingClaim(String)
    /// A claim has the wrong JSON type or form.
    case invalidClaim(String)
    /// `iss` is another issuer.
    case wrongIssuer
    /// `aud` does not name the verifier, or names an audience that it does not trust.
    case wrongAudience
    /// `azp` names another client, or is missing where there are several audiences.
    case wrongAuthorizedParty
    /// `cnf` binds it to a key, and whoever presents it as a bearer proves none (RFC 9449 §7.2).
    case boundToKey
    /// `exp` has passed.
    case expired
    /// `exp` lies further ahead than the verifier remembers that the token was used, in seconds (RFC 7523 §3).
    case lastsTooLong(limit: Int)
    /// `iat`, `nbf` or `auth_time` lies in the future.
    case notYetValid
    /// `nonce` is not the one of the request.
    case wrongNonce
    /// `at_hash` is not that of the access token.
    case wrongAccessTokenHash
    /// The person signed in longer ago than was asked for (`max_age`).
    case authenticationTooOld
    /// `acr` is none of those that were asked for.
    case wrongAuthenticationContext
}

extension TokenRefusal: CustomStringConvertible {
    /// What is wrong, safe to log.
    public var description: String {
        switch self {
        case .tooLarge: "the token is too large"
        case .malformed(let part): "the \(part.rawValue) of the token is malformed"
        case .wrongType: "the token is of another type"
        case .algorithmNotAllowed: "the algorithm of the token is not allowed"
        case .headerNotAllowed(let name): "the header parameter \(name) is not allowed"
        case .unknownKey(let kid?): "no key \(kid) of the token's algorithm is known"
        case .unknownKey(nil): "the token names no key and none alone can be meant"
        case .badSignature: "the signature is not valid"
        case .missingClaim(let name): "the claim \(name) is missing"
        case .invalidClaim(let name): "the claim \(name) is malformed"
        case .wrongIssuer: "the token is from another issuer"
        case .wrongAudience: "the token is for another audience"
        case .wrongAuthorizedParty: "the token was issued to another client"
        case .boundToKey: "the token is bound to a key that was not proved"
        case .expired: "the token has expired"
        case .lastsTooLong(let limit): "the claim exp lies more than \(limit) seconds ahead"
        case .notYetValid: "the token is from the future"
        case .wrongNonce: "the nonce is not the one of this sign-in"
        case .wrongAccessTokenHash: "the ID token does not belong to the access token"
        case .authenticationTooOld: "the person signed in too long ago"
        case .wrongAuthenticationContext: "the person did not sign in as was asked for"
        }
    }
}
