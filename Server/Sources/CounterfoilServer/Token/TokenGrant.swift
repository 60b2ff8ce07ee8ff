import CounterfoilProtocol
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation

/// A grant type of the token endpoint (RFC 6749 §1.3).
///
/// Each grant type has one file. It parses the request, decides whether to accept it, and determines the audience
/// and scope. It then issues tokens, commits to the store, and writes audit events. A new grant type needs a new
/// file and a line in `TokenEndpoint.grant(_:)`.
protocol TokenGrant: Sendable {
    associatedtype Request: Sendable

    /// The value of `grant_type`.
    static var grantType: String { get }

    /// The part of the protocol to which a request with the grant type belongs, by default
    /// ``ClientDirectory/RequestPhase/continuing``.
    static var phase: ClientDirectory.RequestPhase { get }

    /// Reads the parameters of the grant type; throws if one is missing or malformed.
    static func parse(_ form: FormParameters) throws(OAuthError) -> Request

    /// Responds to a request of an authenticated client.
    ///
    /// The response is returned only after the store has recorded the redeemed code or the refresh.
    func respond(to asked: Request, _ exchange: TokenEndpointRequest) async throws -> TokenResponse
}

extension TokenGrant {
    static var phase: ClientDirectory.RequestPhase { .continuing }
}

/// A request at the token endpoint, with its authenticated client, its proof of possession and its time.
struct TokenEndpointRequest: Sendable {
    let client: AuthenticatedClient
    let request: IncomingRequest
    /// The verified DPoP proof, to whose key the tokens are bound; nil if the request contains none.
    let proof: VerifiedDPoPProof?
    let now: Date

    /// The key of the proof; nil if the request contains none.
    var provenKey: KeyThumbprint? { proof?.thumbprint }

    /// Throws a ``TransientFailure`` if the deadline of the request has passed.
    ///
    /// A request after its deadline is no evidence that a token was stolen: its client may have sent it again, and may
    /// have used the result, while this process was paused.
    func demandTimeLeft() throws(TransientFailure) {
        if request.context.isLate {
            throw TransientFailure(reason: "the request was not answered before its deadline")
        }
    }
}

/// The components that the grant types share.
struct GrantContext: Sendable {
    let settings: ServerSettings
    let registry: CachedRegistry
    let store: any UncachedStore
    let keys: KeyRing
    let issuer: TokenIssuer
    let refreshTokens: RefreshTokenCodec
    let previousKeyTokens: PreviousKeyTokenUses
    let challenges: ChallengeReuseDetector
    let proofs: DPoPProofs
    let auditor: Auditor
    let redemptions: RedemptionLedger

    /// Determines the audience and scope of an access token from the APIs that a token request names.
    ///
    /// If the request names no API, the APIs of the grant are used (RFC 8707 §2.2). If the grant names none either, the
    /// API follows from the scope (RFC 9068 §3).
    ///
    /// The policy for unregistered clients may have changed since the grant, and limits their APIs at each request.
    ///
    /// - Throws: `invalid_dpop_proof` if one of the APIs requires bound tokens and the request contains no proof;
    ///   `invalid_scope` if no API is named and the scope belongs to several.
    func target(
        of grant: Grant, naming asked: [Resource], scope: Scope, _ exchange: TokenEndpointRequest
    ) async throws -> TokenTarget {
        let target = try await target(of: grant, naming: asked, scope: scope, by: exchange.client.client)
        try target.requireProof(exchange.proof)
        // Only a request that gets an ID token creates a key, so that no request without a user does.
        if grant.scope.contains(.openID) {
            try await keys.prepare(exchange.client.client.policy.idTokenAlgorithm, for: exchange.request.context)
        }
        return target
    }

    private func target(
        of grant: Grant, naming asked: [Resource], scope: Scope, by client: RegisteredClient
    ) async throws -> TokenTarget {
        // An API of the grant is looked up by its spelling in the grant.
        let wanted =
            asked.isEmpty ? grant.resources : asked.map { name in grant.resources.first { $0 == name } ?? name }
        let registry = try await registry.atArrival()
        let named = try await registry.apis(named: wanted, orOf: scope, of: client, settings)
        try await registry.checkAPIs(named, for: scope, of: client, settings)
        guard !named.isEmpty else {
            return TokenTarget(anywhere: scope, of: try await registry.defaultAPI(settings), settings: settings)
        }
        return asked.isEmpty
            ? try TokenTarget(scope, forGranted: named, issuer: settings.issuer) : try TokenTarget(scope, for: named)
    }

    /// Returns the part of a scope that a client may still have.
    ///
    /// Since the grant, the policy for unregistered clients may have changed, a scope may have become reserved, and the
    /// client may have lost its approval.
    func permitted(_ scope: Scope, to client: RegisteredClient) async throws -> Scope {
        let permitted = try await registry.atArrival().permitted(scope, to: client, settings)
        if permitted.isEmpty { try client.checkReserved(scope) }
        return permitted
    }

    /// Reads the claims about the user for the tokens of a grant, as they are stored now.
    ///
    /// - Parameters:
    ///   - user: The user.
    ///   - grant: The grant.
    ///   - client: The client.
    ///   - scope: The scope of the token request.
    ///   - target: The audience and scope of the access token.
    func claims(
        about user: User, under grant: Grant, to client: RegisteredClient, scope: Scope, target: TokenTarget
    ) async throws -> TokenClaims {
        let registry = try await registry.atArrival()
        let release = ClaimRelease(
            scopes: try await registry.scopeClaims(), requested: grant.claims, scope: scope,
            accessScope: target.scope,
            claimScope: grant.claimScope.isEmpty
                ? Scope() : try await registry.permitted(grant.claimScope, to: client, settings),
            putsUserClaimsInIDToken: client.policy.putsUserClaimsInIDToken)
        return try await store.tokenClaims(about: user, by: release)
    }

    /// Creates the token family that starts with a code, and the first refresh token of the family.
    ///
    /// Returns nil if the client gets no refresh token. RFC 9449 §5: the refresh tokens of a public client are bound to
    /// the key of its proof.
    func family(
        for grant: Grant, of client: RegisteredClient, boundTo provenKey: KeyThumbprint?, now: Date
    ) -> (record: RefreshFamily, token: RefreshToken)? {
        let name = RefreshTokenCodec.Family(random: issuer.random)
        guard RefreshTokenTerms.areIssued(to: client, for: grant.scope),
            let token = refreshTokens.token(of: name, generation: 0)
        else { return nil }
        let terms = RefreshTokenTerms(of: client, settings: settings)
        let record = RefreshFamily(
            digest: name.digest, grantID: grant.id, keyThumbprint: client.isConfidential ? nil : provenKey,
            rotatedAt: now, lastUsedAt: now, expiresAt: now.addingTimeInterval(terms.lifetime))
        return (record, token)
    }

    /// Revokes a grant with all its tokens, because a token request was refused.
    ///
    /// - Parameters:
    ///   - grant: The grant.
    ///   - reason: The reason of the revocation.
    ///   - refusal: The event of the refusal. It is recorded with the revocation, or alone if the grant has ended
    ///     already.
    ///   - exchange: The token request.
    func revoke(
        _ grant: Grant, because reason: RevocationReason, recording refusal: AuditEvent,
        _ exchange: TokenEndpointRequest
    ) async throws {
        let events = [event(.revocation, grant, exchange, detail: reason.rawValue), refusal]
        let outcome = try await store.revokeGrant(grant.id, because: reason, at: exchange.now, recording: events)
        guard outcome.isCommitted else { return await auditor.note(refusal, by: exchange.request) }
        auditor.countRecorded(events)
        exchange.request.refusal.note(refusal, isRecorded: true)
    }

    /// Creates an event with the user, the client and the identifier of a grant.
    func event(
        _ kind: AuditEvent.Kind, _ grant: Grant, _ exchange: TokenEndpointRequest, detail: String? = nil
    ) -> AuditEvent {
        auditor.event(
            kind, by: exchange.request, user: grant.userID, client: grant.clientID, grant: grant.id,
            detail: detail, now: exchange.now)
    }

    /// Creates the event of a refusal, with the user, the client and the identifier of a grant.
    func refusal(
        _ kind: AuditEvent.Kind, because reason: AuditEvent.Reason, _ grant: Grant, _ exchange: TokenEndpointRequest,
        detail: String? = nil
    ) -> AuditEvent {
        auditor.event(
            kind, because: reason, by: exchange.request, user: grant.userID, client: grant.clientID,
            grant: grant.id, detail: detail, now: exchange.now)
    }
}

extension Grant {
    /// Returns the error if the policy of the client demands a stronger sign-in than that of the grant; nil if not.
    ///
    /// The grant is not revoked, because the policy can change back.
    func weakness(for client: RegisteredClient) -> OAuthError? {
        guard methods.context < client.policy.minimumAuthentication else { return nil }
        return OAuthError(
            .invalidGrant, "the policy of the client demands a stronger sign-in than that of the grant")
    }
}
