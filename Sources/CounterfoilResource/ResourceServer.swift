public import CounterfoilProtocol
public import CounterfoilTokens
public import Foundation
public import HTTPTypes

/// An API that accepts access tokens of one authorization server.
///
/// RFC 6750 and RFC 9068 §4. A resource server verifies a request, and returns ``VerifiedAccess`` or throws
/// ``AccessRefusal``. It does not depend on a web framework.
public struct ResourceServer: Sendable {
    /// The authorization server whose tokens are accepted.
    public let issuer: Issuer
    /// The identifier of this API, which the `aud` claim of a token must contain.
    public let audience: String
    /// `realm` of the challenges; omitted if nil, except that a challenge without other parameters has the realm `api`.
    public let realm: String?
    /// `resource_metadata` of the challenges (RFC 9728 §5.1); omitted if nil.
    public let resourceMetadata: String?

    private let verifier: AccessTokenVerifier
    private let keys: KeySetCache
    /// The introspection cache; nil if tokens are not introspected.
    private let introspectionCache: IntrospectionCache?
    private let clockSkew: TimeInterval
    private let now: @Sendable () -> Date

    /// Creates a resource server.
    ///
    /// - Parameters:
    ///   - issuer: The authorization server.
    ///   - audience: The identifier of this API, which the `aud` claim of a token must contain.
    ///   - keys: The key cache, which resource servers of the same issuer should share. Nil for a new cache,
    ///     which finds the keys through the metadata of the issuer.
    ///   - tokenType: The type of the tokens with which the API is registered. With `.jwt`, tokens of
    ///     the type `at+jwt` are accepted too. No ID token is accepted.
    ///   - algorithms: The accepted signature algorithms.
    ///   - clockSkew: The tolerated difference between the clocks of the issuer and of this API, in seconds.
    ///   - introspection: The configuration of token introspection, with which revoked tokens are rejected
    ///     before they expire. Nil for no introspection.
    ///   - realm: `realm` of the challenges. If nil, it is omitted, except that a challenge without other
    ///     parameters has the realm `api`.
    ///   - resourceMetadata: `resource_metadata` of the challenges; omitted if nil.
    public init(
        issuer: Issuer,
        audience: String,
        keys: KeySetCache? = nil,
        tokenType: AccessTokenType = .atJWT,
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
            tokenType: tokenType,
            algorithms: algorithms,
            clockSkew: clockSkew,
            introspection: introspection,
            realm: realm,
            resourceMetadata: resourceMetadata,
            now: { Date() },
            instant: { .now }
        )
    }

    /// Creates a resource server with injected clocks, for tests.
    package init(
        issuer: Issuer,
        audience: String,
        keys: KeySetCache,
        tokenType: AccessTokenType = .atJWT,
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
        introspectionCache = introspection.map { IntrospectionCache(issuer: issuer, introspection: $0, now: instant) }
        verifier = AccessTokenVerifier(
            issuer: issuer, audience: audience, type: tokenType, algorithms: algorithms, clockSkew: clockSkew)
    }

    /// Verifies the access token in the header of a request, and checks that it grants the required scope.
    public func access(
        for request: HTTPRequest, requiring scope: Scope = Scope()
    ) async throws(AccessRefusal) -> VerifiedAccess {
        try await access(for: request, body: EmptyCollection(), requiring: scope)
    }

    /// Verifies the access token of a request and its scope, and checks the collected body for a second token.
    ///
    /// A request with a token in the header is rejected if its form body contains a token too (RFC 6750 §2).
    public func access(
        for request: HTTPRequest, body: some Collection<UInt8>, requiring scope: Scope = Scope()
    ) async throws(AccessRefusal) -> VerifiedAccess {
        let presented: PresentedBearerToken
        do { presented = try PresentedBearerToken(in: request, body: body) } catch {
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

    /// Checks that a verified access grants every scope token of the required scope (RFC 6750 §3.1).
    ///
    /// - Throws: An ``AccessRefusal`` with `insufficient_scope` and a challenge that states the whole required scope.
    public func require(_ scope: Scope, of access: VerifiedAccess) throws(AccessRefusal) {
        guard scope.isSubset(of: access.scope) else { throw insufficientScope(scope) }
    }

    /// Checks that the sign-in of a verified access meets a requirement (RFC 9470 §3).
    ///
    /// - Throws: An ``AccessRefusal`` with `insufficient_user_authentication` and a challenge that states the
    ///   requirement.
    public func require(_ requirement: AuthenticationRequirement, of access: VerifiedAccess) throws(AccessRefusal) {
        guard !requirement.isMet(by: access, at: now(), clockSkew: clockSkew) else { return }
        var challenge = challenge(Scope())
        challenge.authenticationContexts = requirement.contexts
        challenge.maxAge = requirement.maxAge
        throw .refused(
            OAuthError(
                .insufficientUserAuthentication,
                "the user must sign in again: a more recent or another authentication is required"),
            challenge: challenge)
    }

    /// Returns true if a resource server with the same issuer and audience created `access`.
    ///
    /// Middleware can then use `access` instead of verifying the token of the request again. If this resource
    /// server introspects tokens, the token of `access` must have been introspected too.
    public func recognizes(_ access: VerifiedAccess) -> Bool {
        guard introspectionCache == nil || access.isIntrospected else { return false }
        return access.issuer.rawValue.utf8.elementsEqual(issuer.rawValue.utf8)
            && access.audience.utf8.elementsEqual(audience.utf8)
    }

    private func verified(
        _ token: AccessToken, requiring scope: Scope
    ) async throws(AccessRefusal) -> VerifiedAccess {
        let now = now()
        let verified = try await authenticated(token, requiring: scope, at: now)
        guard let introspectionCache else { return VerifiedAccess(verified, issuer: issuer, audience: audience) }
        let status: IntrospectionCache.TokenStatus
        do { status = try await introspectionCache.status(of: token) } catch { throw .statusUnavailable(error) }
        switch status {
        case .active(let holding):
            return VerifiedAccess(verified, issuer: issuer, audience: audience, holding: holding)
        case .inactive:
            let reason =
                "the introspection response has active=false: the token was revoked, or the client_id is of another API"
            throw .refused(
                OAuthError(.invalidToken, "the token is no longer active", reason: reason),
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
            // The token may be signed with a key that is newer than the cached keys. The cache fetches the keys
            // again if its rate limit for unknown keys allows it.
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
            // A token with a valid signature but a malformed `scope` claim grants no scope.
            return insufficientScope(scope)
        case .unknownKey:
            // The key identifier (`kid`) is logged but is not in the response, because the sender of a forged token
            // can choose any text as its `kid`.
            let words = "the token is not signed by a key of the issuer"
            return .refused(OAuthError(.invalidToken, words, reason: "\(refusal)"), challenge: challenge(scope))
        default:
            return .refused(OAuthError(.invalidToken, "\(refusal)"), challenge: challenge(scope))
        }
    }

    private func insufficientScope(_ scope: Scope) -> AccessRefusal {
        .refused(
            OAuthError(.insufficientScope, "the access token does not grant the required scope"),
            challenge: challenge(scope)
        )
    }

    private func challenge(_ scope: Scope) -> BearerChallenge {
        BearerChallenge(realm: realm, resourceMetadata: resourceMetadata, scope: scope.isEmpty ? nil : scope)
    }
}
