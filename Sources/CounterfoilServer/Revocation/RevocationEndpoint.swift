import CounterfoilProtocol
import CounterfoilTokens
import Foundation
import HTTPTypes

/// `/oauth2/revoke` (RFC 7009): POST with a form; nothing back.
///
/// Any token of a grant ends the whole grant: a person who signs out has signed out, whichever token the application still had.
struct RevocationEndpoint: Sendable {
    let authenticator: ClientAuthenticator
    let store: any GrantStore & RefreshTokenStore
    let refreshTokens: RefreshTokenAuthority
    let accessTokens: IssuedAccessTokenVerifier
    let keys: any SigningKeys
    let auditor: Auditor

    var handlers: [EndpointHandler] { [EndpointHandler(.revocation, respond)] }

    func respond(to request: IncomingRequest, now: Date) async throws -> Reply {
        // RFC 6749 §2.3.1: nothing in the URL is looked at; RFC 7009 §2.3: nor a callback for scripts.
        let form = try request.form()
        let token = try AnyToken(parsing: form)
        let client = try await authenticator.authenticate(request, form: form, now: now).client
        // RFC 7009 §2.2: a token that is none, or none any more, is what was asked for.
        guard let grant = try await grant(of: token, presentedBy: client) else { return Reply(.ok) }
        if case .revoked = try await store.revokeGrant(grant.id, because: .application, at: now) {
            await auditor.note(
                .revocation, by: request, person: grant.personID, client: grant.clientID, grant: grant.id,
                detail: RevocationReason.application.rawValue, now: now)
        }
        return Reply(.ok)
    }

    /// The grant that a token belongs to; nil where there is none, and a refusal where it is another application's.
    private func grant(of token: AnyToken, presentedBy client: RegisteredClient) async throws -> Grant? {
        let grant: Grant?
        if let genuine = RefreshToken(token.exposed).flatMap(refreshTokens.read) {
            // Of any age: one that was replaced belongs to the same line.
            grant = try await store.refreshFacts(genuine.family.digest)?.grant
        } else if let claims = try? accessTokens.verify(token, keys: keys.publicKeys).claims {
            // Also one that is over: what else its grant has given is not.
            guard claims.clientID == client.id else { throw Self.foreign }
            guard let id = claims.grantID.flatMap(GrantIdentifier.init) else {
                throw OAuthError(
                    .unsupportedTokenType,
                    "a token that an application got for itself cannot be revoked; it ends by itself")
            }
            grant = try await store.grant(id)
        } else {
            grant = nil
        }
        // RFC 7009 §2.1: refused, and not revoked.
        guard grant?.clientID ?? client.id == client.id else { throw Self.foreign }
        return grant
    }

    /// RFC 6749 §5.2: `invalid_grant` is also what was issued to another client.
    private static let foreign = OAuthError(.invalidGrant, "the token was issued to another application")
}
