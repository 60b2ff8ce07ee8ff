import CounterfoilProtocol
import HTTPTypes

/// The access token of a request to a protected endpoint of this server, not yet verified.
///
/// The token is in the `Authorization` field, or in the parameter `access_token` of a posted form (RFC 6750
/// §2.1 and §2.2). A token in the query is ignored (RFC 6750 §2.3).
struct PresentedAccessToken: Sendable {
    /// The token; nil if the request has none.
    let token: AccessToken?

    init(_ request: IncomingRequest) throws(BearerRefusal) {
        let inField = try Self.inField(request.head.headerFields[values: .authorization])
        let inBody = try Self.inBody(of: request)
        // RFC 6750 §2: a request must not use more than one method.
        guard inField == nil || inBody == nil else {
            throw BearerRefusal(
                .invalidRequest, "the access token is in both the Authorization header and the form body")
        }
        guard let text = inField ?? inBody else {
            token = nil
            return
        }
        guard let token = AccessToken(text) else {
            throw BearerRefusal(.invalidToken, "the access token contains invalid characters")
        }
        self.token = token
    }

    private static func inField(_ fields: [String]) throws(BearerRefusal) -> String? {
        guard let field = fields.first else { return nil }
        guard fields.count == 1 else {
            throw BearerRefusal(.invalidRequest, "the request has more than one Authorization header")
        }
        let halves = field.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        // RFC 9110 §11.1: the scheme is case-insensitive.
        guard halves[0].lowercased() == "bearer" else { return nil }
        guard halves.count == 2, !halves[1].isEmpty, !halves[1].contains(" ") else {
            throw BearerRefusal(
                .invalidRequest, "the Authorization header must be the word Bearer, one space and one access token")
        }
        return String(halves[1])
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

/// The error for a refused access token at a protected endpoint of this server (RFC 6750 §3.1).
struct BearerRefusal: Error {
    let error: OAuthError
    /// The scope that the token would need; nil unless the error is `insufficient_scope`.
    var scope: Scope?

    init(_ code: OAuthError.Code, _ description: String, reason: String? = nil, scope: Scope? = nil) {
        error = OAuthError(code, description, reason: reason)
        self.scope = scope
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

    /// The value of `WWW-Authenticate` (RFC 6750 §3).
    var challenge: BearerChallenge { BearerChallenge(scope: scope, error: error) }
}
