public import CounterfoilPlatform
public import CounterfoilProtocol

/// An ID token that is authentic, intended for this client, and valid at the time of verification.
///
/// Only ``IDTokenVerifier`` creates values of this type.
public struct VerifiedIDToken: Sendable, Hashable {
    private let standard: IDTokenClaims
    private let otherTexts: [String: String]

    init(_ standard: IDTokenClaims, signed: AuthenticClaims) {
        self.standard = standard
        otherTexts = signed.members.compactMapValues(\.text).filter { !Self.standardNames.contains($0.key) }
    }

    private static let standardNames: Set = ["iss", "sub", "aud", "nonce", "at_hash", "azp", "acr"]

    /// The OpenID provider that issued the token (claim `iss`).
    public var issuer: Issuer { standard.issuer }
    /// The subject identifier of the user (claim `sub`); unique only within the issuer.
    public var subject: String { standard.subject }
    /// The audiences, which include this client (claim `aud`).
    public var audience: [String] { standard.audience }
    /// The expiration time (claim `exp`), which can have passed since the verification.
    public var expires: Date { standard.expires }
    /// The time of issue by the clock of the provider (claim `iat`).
    public var issuedAt: Date { standard.issuedAt }
    /// The time at which the user signed in (claim `auth_time`); nil if the token has none.
    public var authTime: Date? { standard.authTime }
    /// The nonce of the authorization request (claim `nonce`); nil if the token has none.
    public var nonce: Nonce? { standard.nonce }
    /// The client that the token was issued to (claim `azp`): this client, or nil if the token has no such claim.
    public var authorizedParty: ClientIdentifier? { standard.authorizedParty }
    /// The authentication context of the sign-in (claim `acr`); nil if the token has none.
    public var authenticationContext: String? { standard.authenticationContext }
    /// The methods by which the user signed in (claim `amr`, RFC 8176).
    ///
    /// Empty if the token has none, or if the claim is not an array of strings.
    public var authenticationMethods: [String] { standard.authenticationMethods }

    /// Returns a string claim for which this type has no property, such as `name` or `email`
    /// (OpenID Connect Core §5.1).
    ///
    /// Returns nil if the claim is missing or not a string.
    public func text(of claim: String) -> String? { otherTexts[claim] }
}
