/// The reason why the client rejects a response of the token endpoint and uses none of its tokens.
public enum TokenResponseRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// The status is a success, but the body is not the JSON of RFC 6749 §5.1.
    case unreadable
    /// The `access_token` in the response to a refresh is no text of visible characters (RFC 6749 §A.12).
    case unusableAccessToken
    /// A member occurs twice in the response to a refresh, so that programs may read different tokens (RFC 8259 §4).
    case duplicateMembers
    /// The client does not support the `token_type` (RFC 6749 §7.1).
    case unknownTokenType
    /// The client requested a token that is bound to its key, but the server issued an unbound one (RFC 9449 §5).
    case notBound
    /// The status is an error, but the body is not the JSON of RFC 6749 §5.2; the value is the status.
    case unreadableRefusal(Int)
    /// The client requested the scope `openid`, but the response has no ID token (OpenID Connect Core §3.1.3.3).
    case noIDToken
    /// The ID token cannot be verified, because the server's metadata lack `jwks_uri`.
    case noKeys
    /// The response to a token exchange has no `issued_token_type` (RFC 8693 §2.2.1).
    case noIssuedTokenType
    /// A token exchange requested a token of one type, and the server issued one of another type (RFC 8693 §2.2.1).
    case otherIssuedTokenType

    /// A description that is safe to show to users.
    public var description: String {
        switch self {
        case .unreadable: "the response of the token endpoint is not valid OAuth JSON"
        case .unusableAccessToken: "the token endpoint issued an access token with invalid characters"
        case .duplicateMembers: "the response of the token endpoint has two members with the same name"
        case .unknownTokenType: "the token endpoint issued a token of an unknown type"
        case .notBound: "the server issued a token that is not bound to the key, although DPoP was requested"
        case .unreadableRefusal(let status): "the server refused (status \(status)) without an OAuth error"
        case .noIDToken: "the server issued no ID token, although openid was requested"
        case .noKeys: "the server publishes no keys for verifying its ID token"
        case .noIssuedTokenType: "the server does not name the type of the token that it issued in the exchange"
        case .otherIssuedTokenType: "the server issued a token of another type than the requested one"
        }
    }
}
