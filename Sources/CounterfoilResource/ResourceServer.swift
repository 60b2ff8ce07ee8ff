public import CounterfoilProtocol
public import CounterfoilTokens
public import Foundation
public import HTTPTypes

/// An API that accepts access tokens of one authorization server.
///
/// RFC 6750, RFC 9068 §4 and RFC 9449 §7. A resource server verifies a request, and returns ``VerifiedAccess`` or
/// throws ``AccessRefusal``. It does not depend on a web framework.
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
    private let proofPolicy: ProofPolicy
    /// The DPoP proofs of requests; nil if the URL of this API is not known, so that no proof can be verified.
    let proofs: RequestProofs?
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
    ///   - proofs: The rules for tokens that are bound to a key. If neither the policy nor the audience contains the
    ///     URL of this API, bound tokens are refused.
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
        proofs: ProofPolicy = ProofPolicy(),
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
            proofs: proofs,
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
        proofs: ProofPolicy = ProofPolicy(),
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
        proofPolicy = proofs
        self.proofs = RequestProofs(proofs, audience: audience)
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
        do { return try await verifiedAccess(for: request, body: body, requiring: scope) } catch {
            var refusal = error
            refusal.proofNonce = proofNonce(for: request)
            throw refusal
        }
    }

    /// Returns the value of `DPoP-Nonce` for the response to a request; nil if the response needs none.
    ///
    /// RFC 9449 §8.2 and §9. An ``AccessRefusal`` contains the nonce already. Set the field in every other response to
    /// a request with a proof, so that the next proof of the client contains a fresh nonce. The middleware of
    /// `CounterfoilHummingbird` does it.
    public func proofNonce(for request: HTTPRequest) -> String? {
        guard let proofs else { return nil }
        if request.proofFields.isEmpty {
            guard case .dpop? = try? PresentedToken(in: request) else { return nil }
        }
        return proofs.nonce(at: now())
    }

    /// Checks that a verified access grants every scope token of the required scope (RFC 6750 §3.1).
    ///
    /// - Throws: An ``AccessRefusal`` with `insufficient_scope` and a challenge that states the whole required scope.
    public func require(_ scope: Scope, of access: VerifiedAccess) throws(AccessRefusal) {
        guard scope.isSubset(of: access.scope) else { throw insufficientScope(scope, for: access.scheme) }
    }

    /// Checks that the sign-in of a verified access meets a requirement (RFC 9470 §3).
    ///
    /// - Throws: An ``AccessRefusal`` with `insufficient_user_authentication` and a challenge that states the
    ///   requirement.
    public func require(_ requirement: AuthenticationRequirement, of access: VerifiedAccess) throws(AccessRefusal) {
        guard !requirement.isMet(by: access, at: now(), clockSkew: clockSkew) else { return }
        throw .refused(
            OAuthError(
                .insufficientUserAuthentication,
                "the user must sign in again: a more recent or another authentication is required"),
            challenges(Scope()).stating(requirement, for: access.scheme), for: access.scheme)
    }

    /// Returns true if a resource server with the same issuer and audience created `access`.
    ///
    /// Middleware can then use `access` instead of verifying the token of the request again. If this resource
    /// server introspects tokens, the token of `access` must have been introspected too. The same applies to a
    /// ``ProofPolicy`` that requires bound tokens or nonces.
    public func recognizes(_ access: VerifiedAccess) -> Bool {
        guard introspectionCache == nil || access.isIntrospected else { return false }
        guard !proofPolicy.requiresBoundTokens || access.keyThumbprint != nil else { return false }
        guard !proofPolicy.requiresNonce || access.keyThumbprint == nil || access.isProvenWithNonce else {
            return false
        }
        return access.issuer.rawValue.utf8.elementsEqual(issuer.rawValue.utf8)
            && access.audience.utf8.elementsEqual(audience.utf8)
    }

    private func verifiedAccess(
        for request: HTTPRequest, body: some Collection<UInt8>, requiring scope: Scope
    ) async throws(AccessRefusal) -> VerifiedAccess {
        let presented: PresentedToken
        do { presented = try PresentedToken(in: request, body: body) } catch {
            throw .refused(OAuthError(.invalidRequest, "\(error)"), challenges(scope))
        }
        switch presented {
        case .absent:
            throw .noToken(challenges(scope))
        case .bearer(let token):
            // RFC 9449 §7.2: a proof beside a bearer token is ignored. The token is refused if it is bound to a key.
            guard !proofPolicy.requiresBoundTokens else { throw bearerTokensRefused(requiring: scope) }
            return try await verified(token, provenBy: nil, requiring: scope)
        case .dpop(let token):
            guard let proofs else { throw boundTokensRefused(requiring: scope) }
            let proof = try proof(in: request, carrying: token, proofs, requiring: scope)
            let access = try await verified(token, provenBy: proof, requiring: scope)
            switch proofs.use(proof, at: now()) {
            case .new: return access
            case .used: throw refusal(for: .used, requiring: scope)
            case .full: throw .tooManyProofs()
            }
        }
    }

    private func proof(
        in request: HTTPRequest, carrying token: AccessToken, _ proofs: RequestProofs, requiring scope: Scope
    ) throws(AccessRefusal) -> VerifiedDPoPProof {
        let proof: VerifiedDPoPProof?
        do { proof = try proofs.proof(in: request, carrying: token, at: now()) } catch {
            throw refusal(for: error, requiring: scope)
        }
        if let proof { return proof }
        throw .refused(
            OAuthError(.invalidDPoPProof, "the request has no DPoP field; send a proof of the key of the token in it"),
            challenges(scope), for: .dpop)
    }

    private func verified(
        _ token: AccessToken, provenBy proof: VerifiedDPoPProof?, requiring scope: Scope
    ) async throws(AccessRefusal) -> VerifiedAccess {
        let verified = try await authenticated(token, provenBy: proof, requiring: scope, at: now())
        let scheme: Challenges.Scheme = proof == nil ? .bearer : .dpop
        var holding: Scope?
        if let introspectionCache {
            let status: IntrospectionCache.TokenStatus
            do { status = try await introspectionCache.status(of: token) } catch { throw .statusUnavailable(error) }
            holding = try active(status, verified, requiring: scope, scheme)
        }
        let access = VerifiedAccess(verified, issuer: issuer, audience: audience, provenBy: proof, holding: holding)
        try require(scope, of: access)
        return access
    }

    /// Returns the scope of an active token; throws unless the token is active and the key is that of its claim `cnf`.
    private func active(
        _ status: IntrospectionCache.TokenStatus, _ token: VerifiedAccessToken, requiring scope: Scope,
        _ scheme: Challenges.Scheme
    ) throws(AccessRefusal) -> Scope {
        let reason: String
        switch status {
        case .active(let held, let binding) where binding.agrees(with: token.keyThumbprint): return held
        case .active:
            reason = "token_type or cnf in the introspection response contradicts the claim cnf of the token"
        case .inactive:
            reason =
                "the introspection response has active=false: the token was revoked, or the client_id is of another API"
        }
        throw .refused(
            OAuthError(.invalidToken, "the token is no longer active", reason: reason), challenges(scope), for: scheme)
    }

    private func authenticated(
        _ token: AccessToken, provenBy proof: VerifiedDPoPProof?, requiring scope: Scope, at now: Date
    ) async throws(AccessRefusal) -> VerifiedAccessToken {
        var verdict: Result<VerifiedAccessToken, TokenRefusal>
        do throws(KeySetUnavailable) {
            let held = try await keys.keys(at: now)
            verdict = judge(token, provenBy: proof, by: held.keys, at: now)
            // The token may be signed with a key that is newer than the cached keys. The cache fetches the keys
            // again if its rate limit for unknown keys allows it.
            if case .failure(.unknownKey) = verdict, let renewed = try await keys.keys(after: held, at: now) {
                verdict = judge(token, provenBy: proof, by: renewed.keys, at: now)
            }
        } catch {
            throw .keysUnavailable(error)
        }
        switch verdict {
        case .success(let verified): return verified
        case .failure(let refusal): throw self.refusal(for: refusal, requiring: scope, proof == nil ? .bearer : .dpop)
        }
    }

    private func judge(
        _ token: AccessToken, provenBy proof: VerifiedDPoPProof?, by keys: JSONWebKeySet, at now: Date
    ) -> Result<VerifiedAccessToken, TokenRefusal> {
        Result { () throws(TokenRefusal) in
            try verifier.verify(token.exposed, keys: keys, provenKey: proof?.thumbprint, at: now)
        }
    }
}
