/// The reason why a token endpoint response is not accepted.
public enum TokenResponseRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// A success response that is not the JSON of RFC 6749 §5.1.
    case unreadable
    /// A `token_type` that the client does not support (RFC 6749 §7.1).
    case unknownTokenType
    /// A token that is not bound to the key, although the client requested it (RFC 9449 §5).
    case notBound
    /// An error response that is not the JSON of RFC 6749 §5.2; the value is the status.
    case unreadableRefusal(Int)
    /// A response without an ID token, although `openid` was requested (OpenID Connect Core §3.1.3.3).
    case noIDToken
    /// An ID token from a server that publishes no keys to verify it with.
    case noKeys

    /// A description that is safe to show to users.
    public var description: String {
        switch self {
        case .unreadable: "the response of the token endpoint is not valid OAuth JSON"
        case .unknownTokenType: "the token endpoint issued a token of an unknown type"
        case .notBound: "the server issued a token that is not bound to the key, although DPoP was requested"
        case .unreadableRefusal(let status): "the server refused (status \(status)) without an OAuth error"
        case .noIDToken: "the server issued no ID token, although openid was requested"
        case .noKeys: "the server publishes no keys for verifying its ID token"
        }
    }
}
