/// The type of JWT access tokens, which an authorization server states in the header parameter `typ`.
///
/// RFC 9068 §2.1 and RFC 7519 §5.1. The raw value is the spelling in settings and stores.
public enum AccessTokenType: String, Sendable, Hashable, CaseIterable {
    /// `at+jwt`, the type that the standard for JWT access tokens requires (RFC 9068 §2.1).
    case atJWT = "at+jwt"
    /// `JWT`, for an API whose library refuses `at+jwt`.
    ///
    /// ID tokens have the same type, so the claims must tell the two apart. A verifier accepts a token of this type as
    /// an access token only if it has the claims `client_id`, `jti` and `scope`, and none of `nonce`, `at_hash` and
    /// `c_hash`.
    case jwt

    /// The value of `typ` in the header of a token.
    public var header: TokenType {
        switch self {
        case .atJWT: .accessToken
        case .jwt: .idToken
        }
    }
}

extension AuthenticClaims {
    /// Whether a token of the type `JWT` is an access token.
    ///
    /// RFC 9068 §5: the same keys sign access tokens and ID tokens, and both can have this type. Every access token
    /// has the three claims (RFC 9068 §2.2 and §2.2.3), and no ID token has all of them. Every ID token of an
    /// authorization request has `nonce` or a hash (OpenID Connect Core §3.1.3.6), and no access token has one.
    ///
    /// Verifiers of access tokens require true, and verifiers of ID tokens require false. No token is therefore
    /// accepted as both.
    var areOfAccessToken: Bool {
        ["client_id", "jti", "scope"].allSatisfy { members[$0] != nil }
            && ["nonce", "at_hash", "c_hash"].allSatisfy { members[$0] == nil }
    }

    /// Throws unless the token is an access token: by its type, or by its claims if it has the type of ID tokens.
    func requireAccessToken() throws(TokenRefusal) {
        guard type == .accessToken || areOfAccessToken else { throw .wrongType }
    }

    /// Throws if the token is an access token of the type `JWT`.
    func requireIDToken() throws(TokenRefusal) {
        guard !areOfAccessToken else { throw .wrongType }
    }
}
