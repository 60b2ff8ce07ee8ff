import CounterfoilProtocol
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import HTTPTypes

/// The UserInfo endpoint `/oauth2/userinfo` (OpenID Connect Core §5.3), for GET or POST with an access token.
struct UserInfoEndpoint: Sendable {
    let settings: ServerSettings
    let registry: CachedRegistry
    let store: any GrantStore & UserAttributeStore
    let accessTokens: VerifiedTokenCache
    let keys: any SigningKeys
    let proofs: DPoPProofs
    let throttle: ClientThrottle
    let auditor: Auditor
    let wallClock: @Sendable () -> Date

    var handlers: [EndpointHandler] { [EndpointHandler(.userInfo, ofClients: respond)] }

    func respond(
        to request: IncomingRequest, now: Date, client: inout RequestingClient
    ) async throws -> Reply {
        let presented = try PresentedAccessToken(request)
        guard let token = presented.token else {
            return Reply(.unauthorized, fields: [.wwwAuthenticate: BearerRefusal.challengesWithoutToken])
        }
        do {
            let access = try await verified(token, by: request, now: now, client: &client)
            let proof = try proof(of: access, in: request, presented)
            let (reply, user) = try await claims(for: access)
            try await use(proof, of: user)
            return reply
        } catch var refused as BearerRefusal {
            refused.isOfBoundToken = presented.isBoundToKey
            throw refused
        }
    }

    /// Verifies that the request proves possession of the key to which the token is bound (RFC 9449 §7.1 and §7.2), and
    /// returns the proof; nil if the token is bound to no key.
    private func proof(
        of access: AccessTokenClaims, in request: IncomingRequest, _ presented: PresentedAccessToken
    ) throws -> VerifiedDPoPProof? {
        do {
            let proof =
                presented.isBoundToKey
                ? try proofs.proof(in: request, at: .userInfo, presenting: presented.token) : nil
            guard proof != nil || !presented.isBoundToKey else {
                throw BearerRefusal(.invalidDPoPProof, "the request with the scheme DPoP contains no DPoP proof")
            }
            try access.requireProof(of: proof?.thumbprint)
            return proof
        } catch let refusal as DPoPProofRefusal {
            throw BearerRefusal(refusal)
        } catch let refusal as TokenRefusal {
            throw BearerRefusal(.invalidToken, "\(refusal)")
        }
    }

    /// Notes the use of a proof, after everything else in its request was accepted.
    private func use(_ proof: VerifiedDPoPProof?, of user: UserIdentifier) async throws {
        do { try await proofs.use(proof, of: .user(user)) } catch let refusal as DPoPProofRefusal {
            throw BearerRefusal(refusal)
        }
    }

    private func claims(for access: AccessTokenClaims) async throws -> (reply: Reply, user: UserIdentifier) {
        let (facts, scope) = try await allowed(access)
        guard scope.contains(.openID) else {
            throw BearerRefusal(
                .insufficientScope, "the access token does not have the scope openid", scope: Scope([.openID]))
        }
        let registry = try await registry.atArrival()
        let release = ClaimRelease(
            scopes: try await registry.scopeClaims(), requested: facts.grant.claims, scope: scope, accessScope: scope,
            claimScope: try await claimScope(of: facts.grant))
        let claims = try await store.claims(in: .userInfo, about: facts.user, by: release)
        // OpenID Connect Core §5.3.2: `sub` is always present and the same as in the ID token.
        return (Reply(.ok, .json(try claims.encoded(subject: access.subject))), facts.grant.userID)
    }

    /// Returns the part of `Grant.claimScope` that the client may still have.
    private func claimScope(of grant: Grant) async throws(StoreFault) -> Scope {
        guard !grant.claimScope.isEmpty else { return grant.claimScope }
        let registry = try await registry.fresh()
        guard let client = try await registry.client(grant.clientID) else { return Scope() }
        return try await registry.permitted(grant.claimScope, to: client, settings)
    }

    private func verified(
        _ token: AccessToken, by request: IncomingRequest, now: Date, client: inout RequestingClient
    ) async throws -> AccessTokenClaims {
        do {
            return try verified(token, client: &client)
        } catch {
            if error.isForgery {
                do {
                    try throttle.noteForgery(from: request.countedSource(settings.issuer), now: now)
                } catch {
                    await auditor.refuse(
                        .throttled, because: .throttledSource, request, detail: "access tokens", now: now)
                    throw error
                }
            }
            throw BearerRefusal(
                .invalidToken,
                error == .wrongAudience
                    ? "the access token has another audience; request one for the resource \(settings.issuer)"
                    : "the access token is expired, revoked or invalid",
                reason: "\(error)")
        }
    }

    private func verified(
        _ token: AccessToken, client: inout RequestingClient
    ) throws(TokenRefusal) -> AccessTokenClaims {
        let issued = try accessTokens.verify(AnyToken(token.exposed), keys: keys.publicKeys)
        client = .ofToken(issued.claims.clientID)
        // The token must be for this server. Its audience is the issuer if the client requested the issuer as a
        // resource, and the default audience if the client requested no resource.
        let isForThis = [settings.issuer.rawValue, settings.defaultAudience].contains {
            issued.claims.audience(equalTo: $0) != nil
        }
        guard isForThis else { throw .wrongAudience }
        guard issued.isCurrent(at: wallClock()) else { throw .expired }
        return issued.claims
    }

    /// Returns the grant and user of a token, and the scope that the user still allows.
    ///
    /// The scope is smaller than that of the token if the user has withdrawn a part of it.
    private func allowed(_ access: AccessTokenClaims) async throws -> (facts: GrantFacts, scope: Scope) {
        guard let id = access.grantID.flatMap(GrantIdentifier.init(_:)) else {
            // A token of the client credentials grant does not represent a user.
            throw BearerRefusal(
                .insufficientScope, "the access token does not represent a user", scope: Scope([.openID]))
        }
        guard let facts = try await store.grantFacts(id), facts.hold, facts.grant.clientID == access.clientID else {
            throw BearerRefusal(
                .invalidToken, "the access token is expired, revoked or invalid", reason: "its grant has ended")
        }
        return (facts, access.scope.intersection(facts.grant.scope))
    }
}

extension TokenRefusal {
    /// Whether the refused token has no valid signature of this server.
    ///
    /// A token that was refused for its claims, such as an expired one, is not a forgery.
    fileprivate var isForgery: Bool {
        switch self {
        case .tooLarge, .malformed, .wrongType, .algorithmNotAllowed, .headerNotAllowed, .unknownKey, .badSignature:
            true
        case .missingClaim, .invalidClaim, .wrongIssuer, .wrongAudience, .wrongSubject, .wrongAuthTime,
            .wrongAuthorizedParty, .boundToKey, .boundToAnotherKey, .notBoundToKey, .expired, .lastsTooLong,
            .notYetValid, .wrongNonce, .wrongAccessTokenHash, .authenticationTooOld, .wrongAuthenticationContext:
            false
        }
    }
}
