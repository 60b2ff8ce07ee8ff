import CounterfoilProtocol
import Foundation
import HTTPTypes

/// `/oauth2/token` (RFC 6749 §3.2): POST with a form, JSON back.
struct TokenEndpoint: Sendable {
    let authenticator: ClientAuthenticator
    let store: any GrantStore
    let issuer: TokenIssuer

    func respond(to request: IncomingRequest, now: Date) async throws -> Reply {
        // RFC 6749 §2.3.1: nothing in the URL is looked at, least of all a credential.
        let form = try request.form()
        let asked = try TokenRequest(parsing: form)
        let client = try await authenticator.authenticate(request, form: form)
        let response: TokenResponse
        switch asked {
        case .authorizationCode(let exchange):
            response = try await redeem(exchange, by: client, now: now)
        }
        var reply = Reply(.ok, .json(try response.encoded()))
        // RFC 6749 §5.1: for caches that are older than Cache-Control.
        if let pragma = HTTPField.Name("Pragma") { reply.fields[pragma] = "no-cache" }
        return reply
    }

    private func redeem(
        _ exchange: TokenRequest.CodeExchange,
        by client: AuthenticatedClient,
        now: Date
    ) async throws -> TokenResponse {
        let digest = ArtefactDigest(of: exchange.code)
        let facts = try await store.code(digest)
        switch AuthorizationCodeGrant.judge(exchange, by: client, facts: facts, now: now) {
        case .redeem(let approval):
            let response = try issuer.issue(approval, now: now)
            switch try await store.consumeCode(digest, at: now) {
            case .consumed: return response
            case .alreadyUsed:
                try await store.revokeGrant(approval.facts.grant.id, at: now)
                throw AuthorizationCodeGrant.refusal("code was redeemed by another request at the same time")
            case .gone: throw AuthorizationCodeGrant.refusal("code ended while it was redeemed")
            }
        case .refuse(let error):
            throw error
        case .refuseAndCount(let error):
            try await store.countFailedRedemption(digest)
            throw error
        case .refuseAndRevoke(let error):
            // RFC 6749 §4.1.2: who could redeem it has done so before, so one of the two is a thief.
            if let facts { try await store.revokeGrant(facts.grant.id, at: now) }
            throw error
        }
    }
}
