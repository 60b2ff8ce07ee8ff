public import CounterfoilProtocol
public import Foundation

/// An ID token that is authentic, intended for this client, and matches its sign-in.
///
/// Only ``IDTokenVerifier`` creates values of this type.
public struct VerifiedIDToken: Sendable, Hashable {
    private let standard: IDTokenClaims
    private let otherTexts: [String: String]

    init(_ standard: IDTokenClaims, signed: AuthenticClaims) {
        self.standard = standard
        otherTexts = signed.members.compactMapValues { if case .string(let text) = $0 { text } else { nil } }
            .filter { !Self.standardNames.contains($0.key) }
    }

    private static let standardNames: Set = ["iss", "sub", "aud", "nonce", "at_hash", "azp", "acr"]

    /// The OpenID provider; wire name `iss`.
    public var issuer: Issuer { standard.issuer }
    /// The subject identifier of the user; wire name `sub`, unique only within the issuer.
    public var subject: String { standard.subject }
    /// The audiences, which include this client; wire name `aud`.
    public var audience: [String] { standard.audience }
    /// The expiration time; wire name `exp`.
    public var expires: Date { standard.expires }
    /// The time at which the token was issued; wire name `iat`.
    public var issuedAt: Date { standard.issuedAt }
    /// The time at which the user signed in; wire name `auth_time`.
    public var authTime: Date? { standard.authTime }
    /// The nonce of the authorization request; wire name `nonce`.
    public var nonce: Nonce? { standard.nonce }
    /// The client that the token was issued to; wire name `azp`.
    public var authorizedParty: ClientIdentifier? { standard.authorizedParty }
    /// The authentication context of the sign-in; wire name `acr`.
    public var authenticationContext: String? { standard.authenticationContext }

    /// Returns a string claim that has no property here, for example `name` or `email` (OpenID Connect Core §5.1).
    ///
    /// Returns nil if the claim is missing or not a string.
    public func text(of claim: String) -> String? { otherTexts[claim] }
}
