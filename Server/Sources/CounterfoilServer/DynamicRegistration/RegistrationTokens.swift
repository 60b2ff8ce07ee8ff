@_spi(Counterfoil) package import CounterfoilProtocol
import CounterfoilTokens
import Foundation
import HTTPTypes

/// The secret text of an ``InitialAccessToken``, which a developer sends to register a client (RFC 7591 §3).
package struct InitialAccessTokenText: Secret {
    package let exposed: String

    /// Generates a text of 256 random bits.
    package init(random: RandomBytes = RandomBytes()) {
        exposed = Base64URL.encode(random.bytes(32))
    }

    init(_ presented: AccessToken) { exposed = presented.exposed }
}

/// The token with which a client reads, changes and deletes its own registration, `registration_access_token`
/// (RFC 7592 §3).
package struct RegistrationAccessToken: Secret {
    package let exposed: String

    /// Generates a token of 256 random bits.
    package init(random: RandomBytes = RandomBytes()) {
        exposed = Base64URL.encode(random.bytes(32))
    }

    init(_ presented: AccessToken) { exposed = presented.exposed }
}

extension InitialAccessToken {
    /// Twelve hexadecimal digits that tell the tokens apart in documents and events.
    ///
    /// They are derived from ``digest`` by a second hash, and so contain no part of it.
    package var shortID: String {
        ArtefactDigest(naming: self).bytes.prefix(6).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

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
