import CounterfoilProtocol
import CounterfoilTokens
import Foundation
import HTTPTypes

/// `/oauth2/userinfo` (OpenID Connect Core §5.3): what a person lets an application know, by GET or POST with its access token.
struct UserInfoEndpoint: Sendable {
    let settings: ServerSettings
    let store: any GrantStore
    let accessTokens: KnownAccessTokens
    let keys: any SigningKeys
    let throttle: ClientThrottle
    let auditor: Auditor
    let wallClock: @Sendable () -> Date

    var handlers: [EndpointHandler] { [EndpointHandler(.userInfo, respond)] }

    func respond(to request: IncomingRequest, now: Date) async throws -> Reply {
        guard let token = try PresentedAccessToken(request).token else {
            // RFC 6750 §3.1: without a token nothing went wrong yet, so no error is named.
            return Reply(.unauthorized, fields: [.wwwAuthenticate: BearerChallenge().description])
        }
        let access = try await verified(token, by: request, now: now)
        let (facts, scope) = try await allowed(access)
        guard scope.contains(.openID) else {
            throw BearerRefusal(
                .insufficientScope, "the access token was not given for openid", scope: Scope([.openID]))
        }
        // OpenID Connect Core §5.4, and §5.5: of a scope that was allowed for claims by name, these and no others.
        let byName = facts.grant.claims.userInfo.intersection(PersonClaims.names(for: facts.grant.claimScope))
        let claims = PersonClaims(of: facts.person).named(PersonClaims.names(for: scope).union(byName))
        // OpenID Connect Core §5.3.2: the same `sub` as in the ID token, and always there.
        return Reply(.ok, .json(try claims.encoded(subject: access.subject)))
    }

    private func verified(
        _ token: AccessToken, by request: IncomingRequest, now: Date
    ) async throws -> AccessTokenClaims {
        do { return try verified(token) } catch {
            if error.isForgery {
                do { try throttle.noteForgery(from: request.countedSource(settings.issuer), now: now) } catch {
                    await auditor.note(.throttled, .refused, by: request, detail: "access tokens", now: now)
                    throw error
                }
            }
            throw BearerRefusal(
                .invalidToken,
                error == .wrongAudience
                    ? "the access token is for another API; for this one, ask with resource=\(settings.issuer)"
                    : "the access token is not valid here",
                reason: "\(error)")
        }
    }

    private func verified(_ token: AccessToken) throws(TokenRefusal) -> AccessTokenClaims {
        let issued = try accessTokens.verify(AnyToken(token.exposed), keys: keys.publicKeys)
        // A token is for the server itself where it was asked for it, and for the audience that is set where it names no API.
        let isForThis = [settings.issuer.rawValue, settings.defaultAudience].contains { name in
            issued.claims.audience.contains { $0.utf8.elementsEqual(name.utf8) }
        }
        guard isForThis else { throw .wrongAudience }
        guard issued.isCurrent(at: wallClock()) else { throw .expired }
        return issued.claims
    }

    /// Who gave the access, and what of it is still allowed: less than the token says when the person took some back.
    private func allowed(_ access: AccessTokenClaims) async throws -> (facts: GrantFacts, scope: Scope) {
        guard let id = access.grantID.flatMap(GrantIdentifier.init(_:)) else {
            // The token of an application itself speaks for nobody.
            throw BearerRefusal(
                .insufficientScope, "the access token is not that of a person", scope: Scope([.openID]))
        }
        guard let facts = try await store.grantFacts(id), facts.hold, facts.grant.clientID == access.clientID else {
            throw BearerRefusal(.invalidToken, "the access token is not valid here", reason: "its grant has ended")
        }
        return (facts, access.scope.intersection(facts.grant.scope))
    }
}

extension TokenRefusal {
    /// Whether nobody here has signed the token: what is only over, or for somebody else, was given to whoever shows it.
    fileprivate var isForgery: Bool {
        switch self {
        case .tooLarge, .malformed, .wrongType, .algorithmNotAllowed, .headerNotAllowed, .unknownKey, .badSignature:
            true
        case .missingClaim, .invalidClaim, .wrongIssuer, .wrongAudience, .wrongAuthorizedParty, .boundToKey, .expired,
            .lastsTooLong, .notYetValid, .wrongNonce, .wrongAccessTokenHash, .authenticationTooOld,
            .wrongAuthenticationContext:
            false
        }
    }
}
