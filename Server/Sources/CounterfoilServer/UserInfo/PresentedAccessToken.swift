@_spi(Counterfoil) import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilTokens
import HTTPTypes

/// The access token of a request to a protected endpoint of this server, not yet verified.
///
/// The token is in the `Authorization` field, or in the parameter `access_token` of a posted form (RFC 6750
/// §2.1 and §2.2). A token in the query is ignored (RFC 6750 §2.3). A token that is bound to a key is in the
/// `Authorization` field with the scheme `DPoP` (RFC 9449 §7.1).
struct PresentedAccessToken: Sendable {
    /// The token; nil if the request has none.
    let token: AccessToken?
    /// Whether the request has the scheme `DPoP`, which requires a proof of possession.
    let isBoundToKey: Bool

    init(_ request: IncomingRequest) throws(BearerRefusal) {
        let fields = request.head.headerFields[values: .authorization]
        isBoundToKey = fields.contains { Scheme(rawValue: AuthorizationField($0).scheme) == .dpop }
        do { token = try Self.token(in: fields, or: request) } catch {
            var refused = error
            refused.isOfBoundToken = isBoundToKey
            throw refused
        }
    }

    private enum Scheme: String {
        case bearer
        case dpop
    }

    private static func token(in fields: [String], or request: IncomingRequest) throws(BearerRefusal) -> AccessToken? {
        let inField = try token(in: fields)
        let inBody = try inBody(of: request)
        // RFC 6750 §2: a request must not use more than one method.
        guard inField == nil || inBody == nil else {
            throw BearerRefusal(
                .invalidRequest, "the access token is in both the Authorization header and the form body")
        }
        guard let text = inField ?? inBody else { return nil }
        guard let token = AccessToken(text) else {
            throw BearerRefusal(.invalidToken, "the access token contains invalid characters")
        }
        return token
    }

    private static func token(in fields: [String]) throws(BearerRefusal) -> String? {
        guard let field = fields.first else { return nil }
        guard fields.count == 1 else {
            throw BearerRefusal(.invalidRequest, "the request has more than one Authorization header")
        }
        let parts = AuthorizationField(field)
        guard Scheme(rawValue: parts.scheme) != nil else { return nil }
        guard let token = parts.credentials, !token.isEmpty, !token.contains(" ") else {
            throw BearerRefusal(
                .invalidRequest,
                "the Authorization header must be the word Bearer or DPoP, a space and one access token")
        }
        return token
    }

    private static func inBody(of request: IncomingRequest) throws(BearerRefusal) -> String? {
        guard request.head.method == .post, !request.body.isEmpty, request.hasFormBody else { return nil }
        do {
            return try request.form().single("access_token")
        } catch {
            throw BearerRefusal(.invalidRequest, "the form body is invalid: \(error)")
        }
    }
}

/// The error for a refused access token at a protected endpoint of this server (RFC 6750 §3.1, RFC 9449 §7.1).
struct BearerRefusal: Error {
    let error: OAuthError
    /// The scope that the token would need; nil unless the error is `insufficient_scope`.
    var scope: Scope?
    /// Whether the request has the scheme `DPoP`, whose challenge then is the only one.
    var isOfBoundToken = false
    /// The URL of the metadata of the protected resource (RFC 9728 §5.1); nil if it has none.
    var resourceMetadata: String?

    init(_ code: OAuthError.Code, _ description: String, reason: String? = nil, scope: Scope? = nil) {
        error = OAuthError(code, description, reason: reason)
        self.scope = scope
    }

    /// Creates the error for a rejected proof: status 401, unlike at the token endpoint (RFC 9449 §7.1).
    init(_ refusal: DPoPProofRefusal) {
        error = OAuthError(refusal)
        isOfBoundToken = true
    }

    /// The status for the error (RFC 6750 §3.1): 400 for `invalid_request`, 401 for `invalid_token`, 403 for
    /// `insufficient_scope`.
    var status: HTTPResponse.Status {
        switch error.code {
        case .invalidRequest: .badRequest
        case .insufficientScope: .forbidden
        default: .unauthorized
        }
    }

    /// The value of `WWW-Authenticate`.
    ///
    /// `Bearer` comes first, because some clients read only the first challenge. A request with the scheme `DPoP` gets
    /// the challenge of this scheme alone, as in RFC 9449 §7.1 and §9: some clients recognize the demand for a nonce
    /// only then.
    var challenges: String {
        guard isOfBoundToken else {
            return Self.challenges(
                BearerChallenge(resourceMetadata: resourceMetadata, scope: scope, error: error), Self.dpop())
        }
        var challenge = Self.dpop(scope: scope, error: error)
        challenge.resourceMetadata = resourceMetadata
        return challenge.description
    }

    /// The value of `WWW-Authenticate` for a request without a token, which gets no error code (RFC 6750 §3.1).
    static let challengesWithoutToken = challenges(BearerChallenge(), dpop())

    /// The same at a protected resource with metadata (RFC 9728 §5.1).
    static func challengesWithoutToken(_ resourceMetadata: String, scope: Scope) -> String {
        challenges(BearerChallenge(resourceMetadata: resourceMetadata, scope: scope), dpop())
    }

    private static func challenges(_ bearer: BearerChallenge, _ dpop: DPoPChallenge) -> String { "\(bearer), \(dpop)" }

    private static func dpop(scope: Scope? = nil, error: OAuthError? = nil) -> DPoPChallenge {
        DPoPChallenge(algorithms: DPoPProofVerifier.algorithms.map(\.rawValue), scope: scope, error: error)
    }
}

extension BearerRefusal: Refusing {
    var refusal: Refusal { Refusal(error, status: status, challenge: challenges) }
}
