import CounterfoilProtocol
import CounterfoilTokens
import Foundation

/// What tokens are issued for: a grant of a person, at a code or at a refresh.
struct IssuingFacts: Sendable {
    /// What the person allowed.
    let grant: Grant
    /// Who allowed it.
    let person: Person
    /// To which application.
    let client: RegisteredClient
    /// What of that is asked for now.
    let scope: Scope
    /// What the access token is for, and what of the scope it carries there.
    let target: TokenTarget
    /// `nonce` of the authorization request; nil at a refresh (OpenID Connect Core §12.2).
    let nonce: Nonce?
}

/// Makes tokens; stores nothing.
///
/// What stands in a token is by the clock on the wall, which its readers share.
struct TokenIssuer: Sendable {
    let settings: ServerSettings
    let keys: any SigningKeys
    let subjects: SubjectNames
    let random: RandomBytes
    let clock: @Sendable () -> Date
    let wallClock: @Sendable () -> Date

    /// The server has no key of the algorithm that an application asks for.
    struct KeyMissing: Error, CustomStringConvertible {
        let algorithm: SigningAlgorithm
        var description: String { "there is no signing key for \(algorithm.rawValue)" }
    }

    /// The tokens of a grant (RFC 6749 §5.1; RFC 9068 §2; OpenID Connect Core §3.1.3.3 and §12.2).
    func issue(_ facts: IssuingFacts, refreshToken: RefreshToken?) throws -> TokenResponse {
        let now = wallClock()
        let lifetime = facts.client.policy.accessTokenLifetime ?? settings.accessTokenLifetime
        let subject = subjects.name(of: facts.person.id, to: facts.client)
        let accessToken = try accessToken(
            AccessTokenClaims(
                issuer: settings.issuer,
                subject: subject,
                audience: facts.target.audience,
                clientID: facts.client.id,
                expires: now.addingTimeInterval(TimeInterval(lifetime)),
                issuedAt: now,
                tokenID: Base64URL.encode(random.bytes(16)),
                scope: facts.target.scope,
                authTime: authTime(of: facts.grant, at: now),
                authenticationContext: AuthenticationContext.password,
                grantID: facts.grant.id.rawValue
            ))
        return TokenResponse(
            accessToken: accessToken,
            expiresIn: lifetime,
            refreshToken: refreshToken,
            // RFC 6749 §5.1: said whenever there is one, because it may be less than what was asked.
            scope: facts.target.scope.isEmpty ? nil : facts.target.scope,
            idToken: facts.scope.contains(.openID)
                ? try idToken(facts, subject: subject, accessToken: accessToken, now: now) : nil
        )
    }

    /// A token without a user (RFC 6749 §4.4.3): its subject is the client.
    func issue(_ access: MachineAccess) throws -> TokenResponse {
        let now = wallClock()
        let lifetime = access.client.policy.accessTokenLifetime ?? settings.accessTokenLifetime
        let accessToken = try accessToken(
            AccessTokenClaims(
                issuer: settings.issuer,
                subject: access.client.id.rawValue,
                audience: access.target.audience,
                clientID: access.client.id,
                expires: now.addingTimeInterval(TimeInterval(lifetime)),
                issuedAt: now,
                tokenID: Base64URL.encode(random.bytes(16)),
                scope: access.target.scope
            ))
        return TokenResponse(accessToken: accessToken, expiresIn: lifetime, scope: access.target.scope)
    }

    private func accessToken(_ claims: AccessTokenClaims) throws -> AccessToken {
        guard let token = AccessToken(try key(.es256).sign(claims)) else { throw KeyMissing(algorithm: .es256) }
        return token
    }

    private func idToken(
        _ facts: IssuingFacts, subject: String, accessToken: AccessToken, now: Date
    ) throws -> IDToken? {
        let policy = facts.client.policy
        let signingKey = try key(policy.idTokenAlgorithm)
        let claims = IDTokenClaims(
            issuer: settings.issuer,
            subject: subject,
            audience: [facts.client.id.rawValue],
            expires: now.addingTimeInterval(TimeInterval(policy.idTokenLifetime ?? settings.idTokenLifetime)),
            issuedAt: now,
            authTime: authTime(of: facts.grant, at: now),
            nonce: facts.nonce,
            accessTokenHash: IDTokenClaims.accessTokenHash(of: accessToken, algorithm: signingKey.algorithm),
            authenticationContext: AuthenticationContext.password,
            sessionID: try facts.grant.sessionID.map { try subjects.name(of: $0, to: facts.client) },
            person: person(in: facts)
        )
        return IDToken(try signingKey.sign(claims))
    }

    /// When the person signed in, by the clock on the wall as it is set now: an API judges the age of a sign-in by it (RFC 9470 §4).
    ///
    /// Half a minute is what clocks may differ by; less changes nothing, so that all tokens of a sign-in name the same second
    /// (OpenID Connect Core §12.2).
    private func authTime(of grant: Grant, at wall: Date) -> Date {
        let step: TimeInterval = 30
        let jump = (wall.timeIntervalSince(clock()) / step).rounded() * step
        return min(wall, grant.authenticatedAt.addingTimeInterval(jump))
    }

    /// OpenID Connect Core §5.5: the claims asked for by name, as far as the scope of this very token or what was allowed for
    /// them alone covers them.
    private func person(in facts: IssuingFacts) -> PersonClaims {
        guard !facts.grant.claims.idToken.isEmpty else { return PersonClaims() }
        return PersonClaims(of: facts.person)
            .named(
                facts.grant.claims.idToken.intersection(
                    PersonClaims.names(for: facts.scope.union(facts.grant.claimScope))))
    }

    private func key(_ algorithm: SigningAlgorithm) throws -> SigningKey {
        guard let key = keys.key(for: algorithm) else { throw KeyMissing(algorithm: algorithm) }
        return key
    }
}
