public import CounterfoilProtocol
public import Foundation

/// An access token that is authentic, intended for this API, and valid at the time of verification.
///
/// Only ``AccessTokenVerifier`` creates values of this type.
public struct VerifiedAccessToken: Sendable, Hashable {
    private let claims: AccessTokenClaims

    init(_ claims: AccessTokenClaims) { self.claims = claims }

    /// The server that issued the token; wire name `iss`.
    public var issuer: Issuer { claims.issuer }
    /// The user, or the client if no user is involved; wire name `sub`, unique only within the issuer.
    public var subject: String { claims.subject }
    /// The client that the token was issued to; wire name `client_id`.
    public var clientID: ClientIdentifier { claims.clientID }
    /// The granted scope; wire name `scope`, empty if the token has none.
    public var scope: Scope { claims.scope }
    /// The APIs that the token is intended for, including this one; wire name `aud`.
    public var audience: [String] { claims.audience }
    /// The expiration time; wire name `exp`.
    public var expires: Date { claims.expires }
    /// The time at which the token was issued; wire name `iat`.
    public var issuedAt: Date { claims.issuedAt }
    /// The unique identifier of the token; wire name `jti`.
    public var tokenID: String { claims.tokenID }
    /// The grant that the token was issued for; wire name `grant_id`, a private claim.
    public var grantID: String? { claims.grantID }
    /// The authentication context of the sign-in; wire name `acr`.
    public var authenticationContext: String? { claims.authenticationContext }
    /// The time at which the user signed in; wire name `auth_time`.
    public var authTime: Date? { claims.authTime }
}
