import CounterfoilProtocol
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens

/// The part of the authorization of an access token that is still valid.
struct TokenStanding: Sendable {
    /// The party for which the client acts.
    enum Subject: Sendable {
        /// A user, by a grant.
        case user(GrantFacts)
        /// The client itself (RFC 9068 §2.2).
        case client(RegisteredClient)
    }

    let subject: Subject
    /// The scope that is still allowed; the user can have withdrawn a part.
    let scope: Scope
    /// The username for the response about the token; nil if the token does not name the user.
    let username: String?

    /// Reads the part of a token's authorization that is still valid, in one query; nil if nothing is valid.
    init?(of claims: AccessTokenClaims, in store: any GrantStore, _ registry: CachedRegistry) async throws(StoreFault) {
        guard let id = claims.grantID.flatMap(GrantIdentifier.init) else {
            // RFC 9068 §2.2: a client that acts without a user is the subject of its token.
            guard claims.subject == claims.clientID.rawValue,
                let client = try await registry.fresh().client(claims.clientID), client.suspension == nil,
                !client.approvedMachineScope.isEmpty
            else { return nil }
            (subject, scope, username) = (.client(client), client.approvedMachineScope, nil)
            return
        }
        // The store deletes the grants of a deleted client, so one query checks the grant and the client.
        guard let facts = try await store.grantFacts(id), facts.hold, facts.grant.clientID == claims.clientID
        else { return nil }
        // OpenID Connect Core §8.1: a pairwise identifier must not reveal the user. The response about a token with
        // a pairwise `sub` therefore has no `username`.
        let isPublic = claims.subject == facts.user.id.rawValue
        (subject, scope) = (.user(facts), facts.grant.scope)
        username = isPublic ? facts.user.username.rawValue : nil
    }
}
