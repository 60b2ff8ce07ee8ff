public import CounterfoilProtocol
public import Foundation

/// An access token that is genuine, for us, and valid at the time of the check.
///
/// Only ``AccessTokenVerifier`` makes one.
public struct VerifiedAccessToken: Sendable, Hashable {
    private let claims: AccessTokenClaims

    init(_ claims: AccessTokenClaims) { self.claims = claims }

    /// The server that issued the token; wire name `iss`.
    public var issuer: Issuer { claims.issuer }
    /// The person or, where there is none, the client that acts, unique within the issuer only; wire name `sub`.
    public var subject: String { claims.subject }
    /// The application that the token was issued to; wire name `client_id`.
    public var clientID: ClientIdentifier { claims.clientID }
    /// What was granted; wire name `scope`, empty where the token has none.
    public var scope: Scope { claims.scope }
    /// The APIs that the token is for, us among them; wire name `aud`.
    public var audience: [String] { claims.audience }
    /// The time from which on the token is worth nothing; wire name `exp`.
    public var expires: Date { claims.expires }
    /// When the token was issued; wire name `iat`.
    public var issuedAt: Date { claims.issuedAt }
    /// The name of this very token; wire name `jti`.
    public var tokenID: String { claims.tokenID }
    /// The grant at the server that the token comes from; wire name `grant_id`.
    public var grantID: String? { claims.grantID }
    /// How the person signed in; wire name `acr`.
    public var authenticationContext: String? { claims.authenticationContext }
    /// When the person signed in; wire name `auth_time`.
    public var authTime: Date? { claims.authTime }
}
