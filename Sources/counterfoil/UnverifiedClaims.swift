import CounterfoilPlatform
import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilTokens

/// The claims of a JWT whose signature this program has not verified; messages show them, and nothing trusts them.
struct UnverifiedClaims {
    /// `iss`; nil if it is missing.
    let issuer: String?
    /// `aud`; empty if it is missing.
    let audience: [String]
    /// `exp`; nil if it is missing.
    let expires: Date?
    /// `scope`; nil if it is missing.
    let scope: Scope?

    /// Parses a token in compact serialization (RFC 7515 §7.1); nil if it is none, such as an opaque access token.
    init?(_ token: String) {
        guard let members = JSONReader.unverifiedClaims(of: token) else { return nil }
        issuer = members.text("iss")
        audience = members.texts("aud") ?? [members.text("aud")].compactMap(\.self)
        scope = members.text("scope").flatMap { try? Scope(lenient: $0) }
        expires =
            switch members["exp"] {
            case .integer(let seconds): Date(timeIntervalSince1970: TimeInterval(seconds))
            case .number(let seconds): Date(timeIntervalSince1970: seconds)
            default: nil
            }
    }
}
