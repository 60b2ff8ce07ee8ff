public import CounterfoilProtocol
public import CounterfoilTokens
public import Foundation
public import HTTPTypes

/// An API that accepts the access tokens of one authorization server: request in, ``VerifiedAccess`` or ``AccessRefusal``
/// out.
///
/// RFC 6750 and RFC 9068 §4. Knows no web framework.
public struct ResourceServer: Sendable {
    /// The authorization server whose tokens are accepted.
    public let issuer: Issuer
    /// The identifier of this API, which has to be among the `aud` of a token.
    public let audience: String
    /// `realm` of the challenges; nil leaves it out.
    public let realm: String?
    /// `resource_metadata` of the challenges (RFC 9728 §5.1); nil leaves it out.
    public let resourceMetadata: String?

    private let verifier: AccessTokenVerifier
    private let keys: KeySetCache
    /// What tokens are still worth; nil where the server is not asked.
    private let standings: StandingCache?
    private let clockSkew: TimeInterval
    private let now: @Sendable () -> Date

    /// Makes a resource server; without a cache of keys it finds them through the metadata of the issuer.
    ///
    /// Give several resource servers of one issuer the same cache. Clocks may differ by some seconds. With `introspection` the
    /// issuer is also asked whether a token still counts, which it may have ceased to do before it expires.
    public init(
        issuer: Issuer,
        audience: String,
        keys: KeySetCache? = nil,
        algorithms: Set<SigningAlgorithm> = [.es256, .rs256, .edDSA],
        clockSkew: TimeInterval = 30,
        introspection: TokenIntrospection? = nil,
        realm: String? = nil,
        resourceMetadata: String? = nil
    ) {
        self.init(
            issuer: issuer,
            audience: audience,
            keys: keys ?? KeySetCache(source: HTTPKeySetSource(issuer: issuer)),
            algorithms: algorithms,
            clockSkew: clockSkew,
            introspection: introspection,
            realm: realm,
            resourceMetadata: resourceMetadata,
            now: { Date() },
            instant: { .now }
        )
    }

    /// Makes a resource server with clocks of its own, for tests.
    package init(
        issuer: Issuer,
        audience: String,
        keys: KeySetCache,
        algorithms: Set<SigningAlgorithm> = [.es256, .rs256, .edDSA],
        clockSkew: TimeInterval = 30,
        introspection: TokenIntrospection? = nil,
        realm: String? = nil,
        resourceMetadata: String? = nil,
        now: @escaping @Sendable () -> Date,
        instant: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.issuer = issuer
        self.audience = audience
        self.realm = realm
        self.resourceMetadata = resourceMetadata
        self.keys = keys
        self.clockSkew = clockSkew
        self.now = now
        standings = introspection.map { StandingCache(issuer: issuer, introspection: $0, now: instant) }
        verifier = AccessTokenVerifier(
            issuer: issuer, audience: audience, algorithms: algorithms, clockSkew: clockSkew)
    }

    /// Judges a request by its header.
    public func access(
        for request: HTTPRequest, requiring scope: Scope = Scope()
    ) async throws(AccessRefusal) -> VerifiedAccess {
        try await access(for: request, body: EmptyCollection(), requiring: scope)
    }

    /// Judges a request whose body has been collected: a form that holds a second token is refused (RFC 6750 §2).
    public func access(
        for request: HTTPRequest, body: some Collection<UInt8>, requiring scope: Scope = Scope()
    ) async throws(AccessRefusal) -> VerifiedAccess {
        let presented: PresentedToken
        do { presented = try PresentedToken(in: request, body: body) } catch {
            throw .refused(OAuthError(.invalidRequest, "\(error)"), challenge: challenge(scope))
        }
        switch presented {
        case .absent:
            throw .noToken(challenge(scope))
        case .bearer(let token):
            let access = try await verified(token, requiring: scope)
            try require(scope, of: access)
            return access
        }
    }

    /// Refuses an access that lacks a part of a scope, and asks for all of it (RFC 6750 §3.1, `insufficient_scope`).
    public func require(_ scope: Scope, of access: VerifiedAccess) throws(AccessRefusal) {
        guard scope.isSubset(of: access.scope) else { throw insufficientScope(scope) }
    }

    /// Refuses an access whose sign-in is too old or of another kind, and says which would do (RFC 9470 §3,
    /// `insufficient_user_authentication`).
    public func require(_ requirement: AuthenticationRequirement, of access: VerifiedAccess) throws(AccessRefusal) {
        guard !requirement.isMet(by: access, at: now(), clockSkew: clockSkew) else { return }
        var challenge = challenge(Scope())
        challenge.authenticationContexts = requirement.contexts
        challenge.maxAge = requirement.maxAge
        throw .refused(
            OAuthError(
                .insufficientUserAuthentication, "the person must sign in again, more recently or in another way"),
            challenge: challenge)
    }

    /// Whether an access was verified by a resource server of the same issuer and audience, and its token asked about where
    /// this one asks.
    public func recognizes(_ access: VerifiedAccess) -> Bool {
        guard standings == nil || access.isIntrospected else { return false }
        return access.issuer.rawValue.utf8.elementsEqual(issuer.rawValue.utf8)
            && access.audience.utf8.elementsEqual(audience.utf8)
    }

    private func verified(
        _ token: AccessToken, requiring scope: Scope
    ) async throws(AccessRefusal) -> VerifiedAccess {
        let now = now()
        let verified = try await authenticated(token, requiring: scope, at: now)
        guard let standings else { return VerifiedAccess(verified, issuer: issuer, audience: audience) }
        let standing: StandingCache.Standing
        do { standing = try await standings.standing(of: token) } catch { throw .standingUnavailable(error) }
        switch standing {
        case .active(let holding):
            return VerifiedAccess(verified, issuer: issuer, audience: audience, holding: holding)
        case .inactive:
            let reason = "the server says that the token is not active: it was revoked, or this API asks as another one"
            throw .refused(
                OAuthError(.invalidToken, "the token does not count any more", reason: reason),
                challenge: challenge(scope))
        }
    }

    private func authenticated(
        _ token: AccessToken, requiring scope: Scope, at now: Date
    ) async throws(AccessRefusal) -> VerifiedAccessToken {
        var verdict: Result<VerifiedAccessToken, TokenRefusal>
        do throws(KeySetUnavailable) {
            let held = try await keys.keys(at: now)
            verdict = judge(token, by: held.keys, at: now)
            // The key may be newer than the set at hand: ask once more, as often as the cache allows.
            if case .failure(.unknownKey) = verdict, let renewed = try await keys.keys(after: held, at: now) {
                verdict = judge(token, by: renewed.keys, at: now)
            }
        } catch {
            throw .keysUnavailable(error)
        }
        switch verdict {
        case .success(let verified): return verified
        case .failure(let refusal): throw self.refusal(for: refusal, requiring: scope)
        }
    }

    private func judge(
        _ token: AccessToken, by keys: JSONWebKeySet, at now: Date
    ) -> Result<VerifiedAccessToken, TokenRefusal> {
        Result { () throws(TokenRefusal) in try verifier.verify(token.exposed, keys: keys, at: now) }
    }

    private func refusal(for refusal: TokenRefusal, requiring scope: Scope) -> AccessRefusal {
        switch refusal {
        case .invalidClaim("scope") where !scope.isEmpty:
            // A genuine token whose scope is not a text grants nothing.
            return insufficientScope(scope)
        case .unknownKey:
            // The name of the key is the sender's own text: for the log only.
            let words = "the token is not signed by a key of the issuer"
            return .refused(OAuthError(.invalidToken, words, reason: "\(refusal)"), challenge: challenge(scope))
        default:
            return .refused(OAuthError(.invalidToken, "\(refusal)"), challenge: challenge(scope))
        }
    }

    private func insufficientScope(_ scope: Scope) -> AccessRefusal {
        .refused(
            OAuthError(.insufficientScope, "the access token does not grant all of what this needs"),
            challenge: challenge(scope)
        )
    }

    private func challenge(_ scope: Scope) -> BearerChallenge {
        BearerChallenge(realm: realm, resourceMetadata: resourceMetadata, scope: scope.isEmpty ? nil : scope)
    }
}
