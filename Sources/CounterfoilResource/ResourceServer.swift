public import CounterfoilProtocol
@_spi(Counterfoil) public import CounterfoilTokens
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
    ///
    /// Of a URL, every spelling with the same scheme, host, port and path is accepted (RFC 3986 §6.2.2.1 and §6.2.3):
    /// `https://Photos.example.com:443/` equals `https://photos.example.com`.
    public let audience: String
    /// `realm` of the challenges; omitted if nil, except that a challenge without other parameters has the realm `api`.
    public let realm: String?
    /// `resource_metadata` of the challenges (RFC 9728 §5.1); omitted if nil.
    public let resourceMetadata: String?
    /// The metadata document of this API, which it serves at their URL (RFC 9728 §3).
    ///
    /// Nil if this API has no ``ResourceDescription``, or if its audience is not an http or https URL.
    public let metadata: ProtectedResourceMetadata?
    /// The scope tokens that include others.
    public let scopeHierarchy: ScopeHierarchy

    private let verifier: AccessTokenVerifier
    private let keys: KeySetCache
    /// The introspection cache; nil if tokens are not introspected.
    let introspectionCache: IntrospectionCache?
    let proofPolicy: ProofPolicy
    /// The DPoP proofs of requests; nil if the URL of this API is not known, so that no proof can be verified.
    let proofs: RequestProofs?
    let clockSkew: TimeInterval
    let now: @Sendable () -> Date

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
    ///   - scopeHierarchy: The scope tokens that include others. By default, none does.
    ///   - description: The description that this API publishes about itself. The audience must be the URL of the API.
    ///     Serve ``metadata`` too, for example with the middleware of `CounterfoilHummingbird`. Nil if this API
    ///     publishes no metadata.
    ///   - resourceMetadata: `resource_metadata` of the challenges. If nil, it is the URL of ``metadata``.
    public init(
        issuer: Issuer,
        audience: String,
        keys: KeySetCache? = nil,
        tokenType: AccessTokenType = .atJWT,
        algorithms: Set<SigningAlgorithm> = Set(SigningAlgorithm.allCases),
        clockSkew: TimeInterval = 30,
        introspection: TokenIntrospection? = nil,
        proofs: ProofPolicy = ProofPolicy(),
        realm: String? = nil,
        scopeHierarchy: ScopeHierarchy = .flat,
        publishing description: ResourceDescription? = nil,
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
            scopeHierarchy: scopeHierarchy,
            publishing: description,
            resourceMetadata: resourceMetadata,
            now: { Date() },
            instant: { .now }
        )
    }

    /// Creates a resource server with injected clocks, for tests.
    @_spi(Counterfoil) public init(
        issuer: Issuer,
        audience: String,
        keys: KeySetCache,
        tokenType: AccessTokenType = .atJWT,
        algorithms: Set<SigningAlgorithm> = Set(SigningAlgorithm.allCases),
        clockSkew: TimeInterval = 30,
        introspection: TokenIntrospection? = nil,
        proofs: ProofPolicy = ProofPolicy(),
        realm: String? = nil,
        scopeHierarchy: ScopeHierarchy = .flat,
        publishing description: ResourceDescription? = nil,
        resourceMetadata: String? = nil,
        now: @escaping @Sendable () -> Date,
        instant: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.issuer = issuer
        self.audience = audience
        self.realm = realm
        self.scopeHierarchy = scopeHierarchy
        self.keys = keys
        self.clockSkew = clockSkew
        self.now = now
        proofPolicy = proofs
        let requestProofs = RequestProofs(proofs, audience: audience)
        self.proofs = requestProofs
        metadata = description.flatMap { description in
            ProtectedResourceMetadata(
                issuer: issuer, audience: audience, description: description,
                proofAlgorithms: requestProofs == nil ? [] : DPoPProofVerifier.algorithms.map(\.rawValue),
                requiresBoundTokens: proofs.requiresBoundTokens)
        }
        self.resourceMetadata = resourceMetadata ?? metadata?.url
        introspectionCache = introspection.map { IntrospectionCache(issuer: issuer, introspection: $0, now: instant) }
        verifier = AccessTokenVerifier(
            issuer: issuer, audience: audience, type: tokenType, algorithms: algorithms, clockSkew: clockSkew
        ).acceptingEqualResources()
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

    private func verifiedAccess(
        for request: HTTPRequest, body: some Collection<UInt8>, requiring scope: Scope
    ) async throws(AccessRefusal) -> VerifiedAccess {
        let presented: PresentedToken
        do { presented = try PresentedToken(in: request, body: body) } catch {
            throw .refused(
                OAuthError(.invalidRequest, "\(error)"), challenges(scope),
                for: PresentedToken.usesProofScheme(request) ? .dpop : .bearer)
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
            let proof = try proof(in: request, presenting: token, proofs, requiring: scope)
            let access = try await verified(token, provenBy: proof, requiring: scope)
            switch proofs.use(proof, of: access.subject, at: now()) {
            case .new: return access
            case .used: throw refusal(for: .used, requiring: scope)
            case .full: throw .tooManyProofs()
            }
        }
    }

    private func proof(
        in request: HTTPRequest, presenting token: AccessToken, _ proofs: RequestProofs, requiring scope: Scope
    ) throws(AccessRefusal) -> VerifiedDPoPProof {
        let proof: VerifiedDPoPProof?
        do { proof = try proofs.proof(in: request, presenting: token, at: now()) } catch {
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
        return try self.access(access, requiring: scope)
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
