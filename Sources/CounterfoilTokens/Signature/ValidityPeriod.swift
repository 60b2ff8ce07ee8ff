import CounterfoilPlatform

/// The validity period of a token (claims `exp`, `nbf` and `iat`).
///
/// RFC 7519 §4.1.4 to §4.1.6.
struct ValidityPeriod: Sendable, Hashable {
    let expires: Date
    let issuedAt: Date
    private let notBefore: Date?

    init(_ claims: AuthenticClaims) throws(TokenRefusal) {
        expires = try claims.date("exp")
        issuedAt = try claims.date("iat")
        notBefore = try claims.optionalDate("nbf")
    }

    /// Returns true if `exp` is after `now`, and `nbf` is missing or not after `now`; no clock skew is tolerated.
    ///
    /// `now` must be the time of the issuer's clock. `iat` is ignored. If it were checked, an issuer whose clock was
    /// set back would reject the tokens that it issued shortly before.
    func holds(at now: Date) -> Bool { now < expires && notBefore ?? .distantPast <= now }

    /// Rejects a token that has expired or is not yet valid.
    ///
    /// - Parameters:
    ///   - now: The current time.
    ///   - clockSkew: The tolerated difference between the clocks of issuer and verifier, in seconds.
    func check(at now: Date, clockSkew: TimeInterval) throws(TokenRefusal) {
        // RFC 7519 §4.1.4: the current time must be before `exp`.
        guard now < expires.addingTimeInterval(clockSkew) else { throw .expired }
        guard max(issuedAt, notBefore ?? issuedAt) <= now.addingTimeInterval(clockSkew) else { throw .notYetValid }
    }
}
