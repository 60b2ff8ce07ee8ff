import CounterfoilProtocol
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import HTTPTypes

/// The endpoint `/oauth2/revoke` (RFC 7009): POST with a form; the response is empty.
///
/// Any token of a grant revokes the whole grant. A client can therefore sign the user out with whichever token
/// it still has.
struct RevocationEndpoint: Sendable {
    let authenticator: ClientAuthenticator
    let store: any GrantStore & RefreshTokenStore
    let refreshTokens: RefreshTokenCodec
    let accessTokens: IssuedAccessTokenVerifier
    let keys: any SigningKeys
    let auditor: Auditor

    var handlers: [EndpointHandler] { [EndpointHandler(.revocation, ofClients: respond)] }

    func respond(
        to request: IncomingRequest, now: Date, client: inout RequestingClient
    ) async throws -> Reply {
        // RFC 6749 §2.3.1: credentials must not be in the URL, so the query is ignored. RFC 7009 §2.3: JSONP is
        // not supported.
        let form = try request.form()
        let token = try AnyToken(parsing: form)
        let presenter = try await authenticator.authenticate(
            request, form: form, on: .ending, now: now, client: &client
        ).client
        return try await ClientRequestError.attributing(to: presenter.id) {
            try await revoke(token, presentedBy: presenter, by: request, now: now)
        }
    }

    private func revoke(
        _ token: AnyToken, presentedBy presenter: RegisteredClient, by request: IncomingRequest, now: Date
    ) async throws -> Reply {
        // RFC 7009 §2.2: a token that is unknown, or whose grant no longer exists, gets the same response as a revoked
        // one.
        guard let grant = try await grant(of: token, presentedBy: presenter) else { return Reply(.ok) }
        let event = auditor.event(
            .revocation, by: request, user: grant.userID, client: grant.clientID, grant: grant.id,
            detail: RevocationReason.client.rawValue, now: now)
        let outcome = try await store.revokeGrant(grant.id, because: .client, at: now, recording: [event])
        if outcome.isCommitted { auditor.countRecorded(event) }
        return Reply(.ok)
    }

    /// Returns the grant that a token belongs to; nil if there is none.
    ///
    /// - Throws: `invalid_grant` if the token was issued to another client.
    private func grant(of token: AnyToken, presentedBy client: RegisteredClient) async throws -> Grant? {
        let grant: Grant?
        if let decoded = RefreshToken(token.exposed).flatMap(refreshTokens.read) {
            // A token that was already rotated still identifies its family.
            grant = try await store.refreshFacts(decoded.family.digest)?.grant
        } else if let claims = try? accessTokens.verify(token, keys: keys.publicKeys).claims {
            // An expired token is accepted too, because other tokens of its grant can still be valid.
            guard claims.clientID == client.id else { throw Self.foreign }
            guard let id = claims.grantID.flatMap(GrantIdentifier.init) else {
                throw OAuthError(
                    .unsupportedTokenType,
                    "access tokens of the client_credentials grant cannot be revoked; they expire")
            }
            grant = try await store.grant(id)
        } else {
            grant = nil
        }
        // RFC 7009 §2.1: a client can revoke only its own tokens.
        guard grant?.clientID ?? client.id == client.id else { throw Self.foreign }
        return grant
    }

    /// The error for a token of another client, `invalid_grant` (RFC 6749 §5.2).
    private static let foreign = OAuthError(.invalidGrant, "the token was issued to another client")
}
