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
    let tokens: AccessTokenCheck

    var handlers: [EndpointHandler] { [EndpointHandler(.userInfo, ofClients: respond)] }

    func respond(
        to request: IncomingRequest, now: Date, client: inout RequestingClient
    ) async throws -> Reply {
        let presented = try PresentedAccessToken(request)
        guard let token = presented.token else {
            return Reply(.unauthorized, fields: [.wwwAuthenticate: BearerRefusal.challengesWithoutToken])
        }
        do {
            // Its audience is the issuer if the client requested the issuer as a resource, and the default audience if
            // the client requested no resource.
            let access = try await tokens.verified(
                token, for: [settings.issuer.rawValue, settings.defaultAudience], by: request, now: now,
                client: &client)
            let proof = try tokens.proof(of: access, in: request, at: .userInfo, presented)
            let (reply, user) = try await claims(for: access)
            try await tokens.use(proof, of: .user(user))
            return reply
        } catch var refused as BearerRefusal {
            refused.isOfBoundToken = presented.isBoundToKey
            throw refused
        }
    }

    private func claims(for access: AccessTokenClaims) async throws -> (reply: Reply, user: UserIdentifier) {
        let (facts, scope) = try await allowed(access)
        guard scope.contains(.openID) else {
            throw BearerRefusal(
                .insufficientScope, "the access token does not have the scope openid", scope: Scope([.openID]))
        }
        let registry = try await registry.atArrival()
        let scopes = try await registry.scopeClaims()
        let released = try await registry.releasable(scope, to: facts.grant.clientID, by: scopes, settings)
        let release = ClaimRelease(
            scopes: scopes, requested: facts.grant.claims, scope: released, accessScope: released,
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
