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
    /// What the access token may do.
    let scope: Scope
    /// Which APIs it is for; empty for those of the grant.
    let resources: [Resource]
    /// `nonce` of the authorization request; nil at a refresh (OpenID Connect Core §12.2).
    let nonce: Nonce?

    init(_ approval: AuthorizationCodeGrant.Approval) {
        grant = approval.facts.grant
        person = approval.facts.person
        client = approval.client
        scope = approval.facts.grant.scope
        resources = approval.resources
        nonce = approval.facts.code.nonce
    }

    init(_ approval: RefreshTokenGrant.Approval) {
        grant = approval.facts.grant
        person = approval.facts.person
        client = approval.client
        scope = approval.scope
        resources = approval.resources
        nonce = nil
    }
}

/// Makes tokens; stores nothing.
///
/// What stands in a token is by the clock on the wall, which its readers share.
struct TokenIssuer: Sendable {
    let settings: ServerSettings
    let keys: any SigningKeys
    let subjects: SubjectNames
    let random: RandomBytes
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
        let resources = facts.resources.isEmpty ? facts.grant.resources : facts.resources
        let accessToken = try accessToken(
            AccessTokenClaims(
                issuer: settings.issuer,
                subject: subject,
                audience: audience(resources, scope: facts.scope),
                clientID: facts.client.id,
                expires: now.addingTimeInterval(TimeInterval(lifetime)),
                issuedAt: now,
                tokenID: Base64URL.encode(random.bytes(16)),
                scope: facts.scope,
                authTime: facts.grant.authenticatedAt,
                authenticationContext: AuthenticationContext.password,
                grantID: facts.grant.id.rawValue
            ))
        return TokenResponse(
            accessToken: accessToken,
            expiresIn: lifetime,
            refreshToken: refreshToken,
            // RFC 6749 §5.1: said whenever there is one, because it may be less than what was asked.
            scope: facts.scope.isEmpty ? nil : facts.scope,
            idToken: facts.scope.contains(.openID)
                ? try idToken(facts, subject: subject, accessToken: accessToken, now: now) : nil
        )
    }

    /// A token for an application itself (RFC 6749 §4.4.3): its subject is the application.
    func issue(_ approval: ClientCredentialsGrant.Approval) throws -> TokenResponse {
        let now = wallClock()
        let lifetime = approval.client.policy.accessTokenLifetime ?? settings.accessTokenLifetime
        let accessToken = try accessToken(
            AccessTokenClaims(
                issuer: settings.issuer,
                subject: approval.client.id.rawValue,
                audience: audience(approval.resources, scope: approval.scope),
                clientID: approval.client.id,
                expires: now.addingTimeInterval(TimeInterval(lifetime)),
                issuedAt: now,
                tokenID: Base64URL.encode(random.bytes(16)),
                scope: approval.scope
            ))
        return TokenResponse(
            accessToken: accessToken, expiresIn: lifetime, scope: approval.scope.isEmpty ? nil : approval.scope)
    }

    /// RFC 9068 §3: the APIs that were named, or the one that the server has set; the server itself where its own endpoints are
    /// to be asked with the token (OpenID Connect Core §5.3).
    private func audience(_ resources: [Resource], scope: Scope) -> [String] {
        guard !resources.isEmpty else { return [settings.defaultAudience] }
        let named = resources.map(\.rawValue)
        let own = settings.issuer.rawValue
        return scope.contains(.openID) && !named.contains(own) ? named + [own] : named
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
            authTime: facts.grant.authenticatedAt,
            nonce: facts.nonce,
            accessTokenHash: IDTokenClaims.accessTokenHash(of: accessToken, algorithm: signingKey.algorithm),
            authenticationContext: AuthenticationContext.password,
            sessionID: facts.grant.sessionID?.rawValue,
            // OpenID Connect Core §5.5; no more than the scope of this very token stands for.
            person: PersonClaims(of: facts.person)
                .named(facts.grant.claims.idToken.intersection(PersonClaims.names(for: facts.scope)))
        )
        return IDToken(try signingKey.sign(claims))
    }

    private func key(_ algorithm: SigningAlgorithm) throws -> SigningKey {
        guard let key = keys.key(for: algorithm) else { throw KeyMissing(algorithm: algorithm) }
        return key
    }
}
