import CounterfoilProtocol
import CounterfoilTokens
import HTTPTypes

extension IncomingRequest {
    /// Returns the bearer token in the `Authorization` field; nil if there is none.
    ///
    /// A token in the query or in a form is ignored (RFC 6750 §2.1).
    func registrationToken() throws(RegistrationTokenRefusal) -> AccessToken? {
        let presented: PresentedAccessToken
        do { presented = try PresentedAccessToken(self) } catch { throw RegistrationTokenRefusal(error.error) }
        guard !presented.isBoundToKey else {
            throw RegistrationTokenRefusal(OAuthError(.invalidToken, "the scheme of the token must be Bearer"))
        }
        return presented.token
    }
}

/// The refusal of a request without a valid token at the endpoints for registrations: 401 (RFC 6750 §3).
struct RegistrationTokenRefusal: Refusing {
    private let error: OAuthError
    /// Whether the request has no token; its challenge then names no error (RFC 6750 §3.1).
    private let isMissing: Bool

    init(_ error: OAuthError, isMissing: Bool = false) {
        self.error = error
        self.isMissing = isMissing
    }

    var refusal: Refusal {
        let challenge = isMissing ? BearerChallenge(realm: "registration") : BearerChallenge(error: error)
        return Refusal(error, status: .unauthorized, challenge: challenge.description)
    }
}
