public import CounterfoilPlatform
public import CounterfoilProtocol

/// An access token that is authentic, intended for this API, and valid at the time of verification.
///
/// Only ``AccessTokenVerifier`` creates values of this type.
public struct VerifiedAccessToken: Sendable, Hashable {
    private let claims: AccessTokenClaims
    /// The claims for which the type has no property.
    private let others: [String: JSONValue]

    init(_ claims: AccessTokenClaims, signed: AuthenticClaims) {
        self.claims = claims
        others = signed.members.filter { !Self.standardNames.contains($0.key) }
    }

    private static let standardNames: Set = [
        "iss", "sub", "aud", "client_id", "exp", "iat", "jti", "scope", "auth_time", "acr", "amr", "grant_id", "cnf",
    ]

    /// The server that issued the token (claim `iss`).
    public var issuer: Issuer { claims.issuer }
    /// The user, or the client if the grant involves no user (claim `sub`); unique only within the issuer.
    public var subject: String { claims.subject }
    /// The client that the token was issued to (claim `client_id`).
    public var clientID: ClientIdentifier { claims.clientID }
    /// The granted scope (claim `scope`); empty if the token has none.
    public var scope: Scope { claims.scope }
    /// The APIs that the token is intended for, including this one (claim `aud`).
    public var audience: [String] { claims.audience }
    /// The expiration time (claim `exp`), which can have passed since the verification.
    public var expires: Date { claims.expires }
    /// The time of issue by the clock of the server (claim `iat`).
    public var issuedAt: Date { claims.issuedAt }
    /// The unique identifier of the token (claim `jti`).
    public var tokenID: String { claims.tokenID }
    /// The identifier of the grant, the permission that the user gave the client (private claim `grant_id`).
    ///
    /// Nil if no user is involved, or if the server does not send the claim.
    public var grantID: String? { claims.grantID }
    /// The thumbprint of the key to which the token is bound, and of which the request contained a proof (`cnf`).
    ///
    /// Nil if the token is a bearer token (RFC 9449 §6.1).
    public var keyThumbprint: KeyThumbprint? { claims.keyThumbprint }
    /// The authentication context of the sign-in (claim `acr`); nil if the token has none.
    public var authenticationContext: String? { claims.authenticationContext }
    /// The methods by which the user signed in (claim `amr`, RFC 8176); empty if the token has none.
    public var authenticationMethods: [String] { claims.authenticationMethods }
    /// The time at which the user signed in (claim `auth_time`); nil if the token has none.
    public var authTime: Date? { claims.authTime }

    /// Returns a string claim for which this type has no property, such as an attribute of the user.
    ///
    /// Returns nil if the claim is missing or not a string.
    public func text(of claim: String) -> String? { others[claim]?.text }

    /// Returns a claim with a list of strings, such as `groups` (RFC 9068 §2.2.3.1).
    ///
    /// Returns nil if the claim is missing or contains anything but strings.
    public func texts(of claim: String) -> [String]? {
        guard case .array(let values)? = others[claim], let texts = others[claim]?.texts, texts.count == values.count
        else { return nil }
        return texts
    }
}
