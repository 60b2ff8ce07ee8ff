import Foundation

/// The times within which a token is valid.
///
/// Wire names `exp`, `nbf` and `iat`, RFC 7519 §4.1.4 to §4.1.6.
struct ValidityPeriod: Sendable, Hashable {
    let expires: Date
    let issuedAt: Date
    private let notBefore: Date?

    init(_ claims: AuthenticClaims) throws(TokenRefusal) {
        expires = try claims.date("exp")
        issuedAt = try claims.date("iat")
        notBefore = try claims.optionalDate("nbf")
    }

    /// Whether whoever wrote the times takes the token as valid at a time of his own clock.
    ///
    /// When it was issued does not matter to him: a clock that was set back makes none of his tokens one of the future.
    func holds(at now: Date) -> Bool { now < expires && notBefore ?? .distantPast <= now }

    /// Refuses a token that has expired or is from the future, by clocks that differ by some seconds at most.
    func check(at now: Date, clockSkew: TimeInterval) throws(TokenRefusal) {
        // RFC 7519 §4.1.4: the current time must be before `exp`.
        guard now < expires.addingTimeInterval(clockSkew) else { throw .expired }
        guard max(issuedAt, notBefore ?? issuedAt) <= now.addingTimeInterval(clockSkew) else { throw .notYetValid }
    }
}
