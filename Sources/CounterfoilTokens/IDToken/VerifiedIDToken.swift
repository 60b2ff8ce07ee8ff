public import CounterfoilProtocol
public import Foundation

/// An ID token that is genuine, for this client and for this sign-in.
///
/// Only ``IDTokenVerifier`` makes one.
public struct VerifiedIDToken: Sendable, Hashable {
    private let standard: IDTokenClaims
    private let otherTexts: [String: String]

    init(_ standard: IDTokenClaims, signed: AuthenticClaims) {
        self.standard = standard
        otherTexts = signed.members.compactMapValues { if case .string(let text) = $0 { text } else { nil } }
            .filter { !Self.standardNames.contains($0.key) }
    }

    private static let standardNames: Set = ["iss", "sub", "aud", "nonce", "at_hash", "azp", "acr"]

    /// The provider; wire name `iss`.
    public var issuer: Issuer { standard.issuer }
    /// The person, unique within the issuer only; wire name `sub`.
    public var subject: String { standard.subject }
    /// This client, and whoever else the token is for; wire name `aud`.
    public var audience: [String] { standard.audience }
    /// The time from which on the token is not accepted; wire name `exp`.
    public var expires: Date { standard.expires }
    /// When the token was issued; wire name `iat`.
    public var issuedAt: Date { standard.issuedAt }
    /// When the person signed in; wire name `auth_time`.
    public var authTime: Date? { standard.authTime }
    /// The value of the authorization request; wire name `nonce`.
    public var nonce: Nonce? { standard.nonce }
    /// The client that the token was issued to; wire name `azp`.
    public var authorizedParty: ClientIdentifier? { standard.authorizedParty }
    /// How the person signed in; wire name `acr`.
    public var authenticationContext: String? { standard.authenticationContext }

    /// Any other claim that is a text, for example `name` or `email` (OpenID Connect Core §5.1).
    public func text(of claim: String) -> String? { otherTexts[claim] }
}
