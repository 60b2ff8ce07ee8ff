@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation

/// The input for the tokens of a grant, once a code or a refresh token was accepted.
struct IssuingFacts: Sendable {
    let grant: Grant
    let user: User
    let client: RegisteredClient
    /// The scope of this token request, which decides whether an ID token is issued.
    let scope: Scope
    /// The claims about the user.
    let claims: TokenClaims
    /// The audience of the access token, and the scope of the access token at this audience.
    let target: TokenTarget
    /// The `nonce` of the authorization request; nil for a refresh (OpenID Connect Core §12.2).
    let nonce: Nonce?
    /// The key of the DPoP proof in the token request, to which the access token is bound; nil for a bearer token.
    let provenKey: KeyThumbprint?
}

/// The issuer of access tokens and ID tokens, which signs the tokens but stores nothing.
///
/// Times in tokens come from the wall clock, because the recipients compare them with their own wall clocks.
struct TokenIssuer: Sendable {
    let settings: ServerSettings
    let keys: any SigningKeys
    let subjects: SubjectIdentifiers
    let random: RandomBytes
    let clock: @Sendable () -> Date
    let wallClock: @Sendable () -> Date
    /// The span of the request for which tokens are issued.
    let span: (any TraceSpan)?

    /// The algorithm of all access tokens; that of an ID token is the choice of its client.
    static let accessTokenAlgorithm = SigningAlgorithm.es256

    struct KeyMissing: Error, CustomStringConvertible {
        let algorithm: SigningAlgorithm
        var description: String { "there is no signing key for \(algorithm.rawValue)" }
    }

    /// Issues the tokens of a grant (RFC 6749 §5.1; RFC 9068 §2; OpenID Connect Core §3.1.3.3 and §12.2).
    func issue(_ facts: IssuingFacts, refreshToken: RefreshToken?) throws -> TokenResponse {
        let now = wallClock()
        let lifetime = accessTokenLifetime(of: facts.client)
        let subject = subjects.subject(for: facts.user.id, client: facts.client)
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
                authenticationContext: facts.grant.context.urn,
                authenticationMethods: facts.grant.methods.references,
                grantID: facts.grant.id.rawValue,
                keyThumbprint: facts.provenKey,
                user: facts.claims.accessToken
            ), type: facts.target.type)
        return TokenResponse(
            accessToken: accessToken,
            tokenType: tokenType(boundTo: facts.provenKey),
            expiresIn: lifetime,
            refreshToken: refreshToken,
            scope: statedScope(of: facts),
            idToken: facts.scope.contains(.openID)
                ? try idToken(facts, subject: subject, accessToken: accessToken, now: now) : nil
        )
    }

    /// Returns the expiry of an access token that a client gets now, by the clock of the store.
    func accessEnd(of client: RegisteredClient, from now: Date) -> Date {
        now.addingTimeInterval(TimeInterval(accessTokenLifetime(of: client)))
    }

    private func accessTokenLifetime(of client: RegisteredClient) -> Int {
        client.policy.accessTokenLifetime ?? settings.accessTokenLifetime
    }

    /// Returns the scope of a response; nil if it is empty.
    ///
    /// RFC 6749 §5.1: the scope may be less than the requested one. `offline_access` belongs to no API, so an access
    /// token for an API does not carry it. The response states that it was granted all the same: some libraries fail
    /// if a requested scope is missing in the response.
    private func statedScope(of facts: IssuingFacts) -> Scope? {
        let coveredScope = facts.target.scope
        let stated = Scope(facts.scope.tokens.filter { $0 == .offlineAccess || coveredScope.contains($0) })
        return stated.isEmpty ? nil : stated
    }

    /// Issues an access token without a user (RFC 6749 §4.4.3); the subject of the token is the client.
    func issue(_ access: MachineAccess, boundTo provenKey: KeyThumbprint?) throws -> TokenResponse {
        let now = wallClock()
        let lifetime = accessTokenLifetime(of: access.client)
        let accessToken = try accessToken(
            AccessTokenClaims(
                issuer: settings.issuer,
                subject: access.client.id.rawValue,
                audience: access.target.audience,
                clientID: access.client.id,
                expires: now.addingTimeInterval(TimeInterval(lifetime)),
                issuedAt: now,
                tokenID: Base64URL.encode(random.bytes(16)),
                scope: access.target.scope,
                keyThumbprint: provenKey
            ), type: access.target.type)
        return TokenResponse(
            accessToken: accessToken, tokenType: tokenType(boundTo: provenKey), expiresIn: lifetime,
            refreshToken: nil, scope: access.target.scope, idToken: nil)
    }

    /// Returns `token_type` (RFC 6750 §6.1.1, RFC 9449 §5).
    private func tokenType(boundTo provenKey: KeyThumbprint?) -> String {
        guard provenKey == nil else { return "DPoP" }
        return settings.lowercasesTokenType ? "bearer" : "Bearer"
    }

    private func accessToken(_ claims: AccessTokenClaims, type: AccessTokenType) throws -> AccessToken {
        let key = try key(Self.accessTokenAlgorithm)
        guard let token = AccessToken(try span.during(.signature) { try key.sign(claims, type: type.header) })
        else {
            throw KeyMissing(algorithm: Self.accessTokenAlgorithm)
        }
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
            authenticationContext: facts.grant.context.urn,
            authenticationMethods: facts.grant.methods.references,
            sessionID: try facts.grant.sessionID.map { try subjects.sessionID(for: $0, client: facts.client) },
            user: facts.claims.idToken
        )
        return IDToken(try span.during(.signature) { try signingKey.sign(claims) })
    }

    /// Returns `auth_time`: the time of the sign-in, converted from the monotonic clock to the wall clock.
    ///
    /// An API compares `auth_time` with its wall clock (RFC 9470 §4). The difference between the two clocks is
    /// rounded to a multiple of 30 seconds, so that clock skew of less than 15 seconds is ignored. All tokens
    /// of a sign-in then have the same `auth_time` (OpenID Connect Core §12.2).
    private func authTime(of grant: Grant, at wall: Date) -> Date {
        let step: TimeInterval = 30
        let jump = (wall.timeIntervalSince(clock()) / step).rounded() * step
        return min(wall, grant.authenticatedAt.addingTimeInterval(jump))
    }

    private func key(_ algorithm: SigningAlgorithm) throws -> SigningKey {
        guard let key = keys.key(for: algorithm) else { throw KeyMissing(algorithm: algorithm) }
        return key
    }
}
