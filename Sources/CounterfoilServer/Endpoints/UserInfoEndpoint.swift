import CounterfoilProtocol
import CounterfoilTokens
import Foundation
import HTTPTypes

/// `/oauth2/userinfo` (OpenID Connect Core §5.3): what a person lets an application know, by GET or POST with its access token.
struct UserInfoEndpoint: Sendable {
    let store: any GrantStore
    let keys: any SigningKeys
    let wallClock: @Sendable () -> Date
    private let verifiers: [AccessTokenVerifier]

    init(
        settings: ServerSettings, store: any GrantStore, keys: any SigningKeys,
        wallClock: @escaping @Sendable () -> Date
    ) {
        self.store = store
        self.keys = keys
        self.wallClock = wallClock
        // A token for named APIs carries the server beside them; one for none of them is for the audience that is set.
        verifiers = Set([settings.issuer.rawValue, settings.defaultAudience]).sorted()
            .map { AccessTokenVerifier(issuer: settings.issuer, audience: $0) }
    }

    func respond(to request: IncomingRequest) async throws -> Reply {
        guard let token = try PresentedAccessToken(request).token else {
            // RFC 6750 §3.1: without a token nothing went wrong yet, so no error is named.
            return Reply(.unauthorized, fields: [.wwwAuthenticate: BearerChallenge().description])
        }
        let access = try verified(token)
        let (person, scope) = try await allowed(access)
        guard scope.contains(.openID) else {
            throw BearerRefusal(
                .insufficientScope, "the access token was not given for openid", scope: Scope([.openID]))
        }
        // OpenID Connect Core §5.4; what was asked for one by one (§5.5) is given within these names only.
        let claims = PersonClaims(of: person).named(PersonClaims.names(for: scope))
        // OpenID Connect Core §5.3.2: the same `sub` as in the ID token, and always there.
        return Reply(.ok, .json(try claims.encoded(subject: access.subject)))
    }

    private func verified(_ token: AccessToken) throws(BearerRefusal) -> VerifiedAccessToken {
        var refusal = TokenRefusal.wrongAudience
        for verifier in verifiers {
            do { return try verifier.verify(token.exposed, keys: keys.publicKeys, at: wallClock()) } catch {
                refusal = error
                guard error == .wrongAudience else { break }
            }
        }
        throw BearerRefusal(.invalidToken, "the access token is not valid here", reason: "\(refusal)")
    }

    /// Who gave the access, and what of it is still allowed: less than the token says when the person took some back.
    private func allowed(_ access: VerifiedAccessToken) async throws -> (person: Person, scope: Scope) {
        guard let id = access.grantID.flatMap(GrantIdentifier.init(_:)) else {
            // The token of an application itself speaks for nobody.
            throw BearerRefusal(
                .insufficientScope, "the access token is not that of a person", scope: Scope([.openID]))
        }
        guard let facts = try await store.grantFacts(id), facts.hold, facts.grant.clientID == access.clientID else {
            throw BearerRefusal(.invalidToken, "the access token is not valid here", reason: "its grant has ended")
        }
        return (facts.person, access.scope.intersection(facts.grant.scope))
    }
}
