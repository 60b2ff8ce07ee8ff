import CounterfoilProtocol
import HTTPTypes

/// An access token as a request to an endpoint of ours brings it, before anything of it is verified.
///
/// RFC 6750 §2.1 and §2.2: in the `Authorization` field, or as `access_token` of a form that is posted. One in the query is
/// never looked at (RFC 6750 §2.3).
struct PresentedAccessToken: Sendable {
    /// The token; nil when there is none.
    let token: AccessToken?

    init(_ request: IncomingRequest) throws(BearerRefusal) {
        let inField = try Self.inField(request.head.headerFields[values: .authorization])
        let inBody = try Self.inBody(of: request)
        // RFC 6750 §2: not more than one method in a request.
        guard inField == nil || inBody == nil else {
            throw BearerRefusal(.invalidRequest, "the access token stands in the header and in the body")
        }
        guard let text = inField ?? inBody else {
            token = nil
            return
        }
        guard let token = AccessToken(text) else {
            throw BearerRefusal(.invalidToken, "the access token holds characters that none has")
        }
        self.token = token
    }

    private static func inField(_ fields: [String]) throws(BearerRefusal) -> String? {
        guard let field = fields.first else { return nil }
        guard fields.count == 1 else {
            throw BearerRefusal(.invalidRequest, "there is more than one Authorization header")
        }
        let halves = field.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        // RFC 9110 §11.1: the scheme in whatever case.
        guard halves[0].lowercased() == "bearer" else { return nil }
        guard halves.count == 2, !halves[1].isEmpty, !halves[1].contains(" ") else {
            throw BearerRefusal(
                .invalidRequest, "the Authorization header must be the word Bearer, one space and one access token")
        }
        return String(halves[1])
    }

    private static func inBody(of request: IncomingRequest) throws(BearerRefusal) -> String? {
        guard request.head.method == .post, !request.body.isEmpty, request.hasFormBody else { return nil }
        do { return try request.form().single("access_token") } catch {
            throw BearerRefusal(.invalidRequest, "the form cannot be read: \(error)")
        }
    }
}

/// Why an access token opens nothing at an endpoint of ours (RFC 6750 §3.1).
struct BearerRefusal: Error {
    /// What went wrong.
    let error: OAuthError
    /// What would be enough; nil where no scope is lacking.
    var scope: Scope?

    init(_ code: OAuthError.Code, _ description: String, reason: String? = nil, scope: Scope? = nil) {
        error = OAuthError(code, description, reason: reason)
        self.scope = scope
    }

    /// RFC 6750 §3.1: `invalid_request` is 400, `invalid_token` 401, `insufficient_scope` 403.
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
