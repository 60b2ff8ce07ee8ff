/// The reason why a token is rejected.
///
/// Every case is safe to log, because no case contains the token or the value of a claim.
public enum TokenRefusal: Error, Hashable, Sendable {
    /// A part of a token that can be malformed.
    public enum Part: String, Hashable, Sendable {
        /// The compact serialization: the token is not three base64url parts separated by dots.
        case serialization
        /// The header: it is not a JSON object, or has duplicate members or members of the wrong type.
        case header
        /// The claims: they are not a JSON object, or have duplicate members.
        case claims
    }

    /// The token is longer than 16 384 bytes, the limit of every verifier.
    case tooLarge
    /// The token is not a compact JWS (RFC 7515 §7.1).
    case malformed(Part)
    /// `typ` is that of another kind of token, or is missing although the verifier requires it (RFC 8725 §3.11).
    case wrongType
    /// `alg` is missing, or is not an algorithm that the verifier accepts (RFC 8725 §3.1).
    case algorithmNotAllowed
    /// The header contains `crit`, `jku`, `jwk`, `x5u` or `x5c`; the associated value is the name.
    ///
    /// With `crit`, the sender could change the rules of verification. With the other parameters, it could choose the
    /// key.
    case headerNotAllowed(String)
    /// The key set contains no key with this `kid` and the algorithm of the token; the issuer
    /// may have a newer key set.
    ///
    /// The associated value is nil if the token has no `kid`. In this case, the key set contains no key or
    /// several keys for the algorithm.
    case unknownKey(KeyIdentifier?)
    /// The signature is not valid for any key that matches the header.
    case badSignature
    /// A required claim is missing; the associated value is its name.
    case missingClaim(String)
    /// A claim has the wrong JSON type, form or value; the associated value is its name.
    case invalidClaim(String)
    /// `iss` is not the expected issuer; in a client assertion, `iss` or `sub` is not the client.
    case wrongIssuer
    /// `aud` does not contain the audience of the verifier, or contains an audience that the verifier does not trust.
    case wrongAudience
    /// `sub` of the ID token of a refresh or a step-up is another user than the one who signed in.
    case wrongSubject
    /// `auth_time` of the ID token of a refresh is not that of the sign-in (OpenID Connect Core §12.2).
    case wrongAuthTime
    /// `azp` is another client, or is missing although there are several audiences.
    case wrongAuthorizedParty
    /// `cnf` binds the token to a key, so that it is not valid as a bearer token (RFC 9449 §7.2).
    case boundToKey
    /// `cnf` binds the token to another key than that of the proof in the request (RFC 9449 §7.1).
    case boundToAnotherKey
    /// The request contains a proof of a key, but the token is bound to none (RFC 9449 §7.1).
    case notBoundToKey
    /// `exp` has passed, even with the tolerated clock skew.
    case expired
    /// `exp` of a client assertion is more than `limit` seconds in the future (RFC 7523 §3).
    ///
    /// To detect replay, the server stores a digest of each used assertion until the assertion expires. The limit
    /// bounds this storage time.
    case lastsTooLong(limit: Int)
    /// `iat`, `nbf` or `auth_time` is in the future, even with the tolerated clock skew.
    case notYetValid
    /// `nonce` is not the nonce of the request.
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
        case .wrongIssuer: "the token was issued by another issuer (iss)"
        case .wrongAudience: "the token is for another audience (aud)"
        case .wrongSubject: "the token is about another user (sub) than the one who signed in"
        case .wrongAuthTime: "the token is about another sign-in, because its time (auth_time) is another one"
        case .wrongAuthorizedParty: "the token was issued to another client (azp)"
        case .boundToKey: "the token is bound to a key (cnf); send it with the scheme DPoP and a proof of this key"
        case .boundToAnotherKey: "the token is bound to another key than that of the DPoP proof"
        case .notBoundToKey: "the token is not bound to a key; send it with the scheme Bearer"
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
